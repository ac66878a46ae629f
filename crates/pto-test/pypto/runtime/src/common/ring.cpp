#include "ring.h"

int ring_slots() { return RING_SLOTS; }
