#pragma once
#define THIRD_TWO 2
