#include "pypto/answer.hpp"

#include "ring.h"
#include "third.h"

int pypto_answer() { return 40 + THIRD_TWO + RING_SLOTS - RING_SLOTS; }
