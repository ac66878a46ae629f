#include "probe.hpp"
float probe(bfloat16_t x) { return static_cast<float>(x) + 1.0f; }
