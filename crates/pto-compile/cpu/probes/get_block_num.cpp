#include "probe.hpp"
uint32_t probe() { return get_block_num() + pto::cpu_sim::runtime_config().num_cores; }
