#pragma once
#define RING_SLOTS 8

int ring_slots();
