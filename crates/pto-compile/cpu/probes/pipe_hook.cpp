#include "probe.hpp"
void *hook(uint64_t key, size_t size);
void probe() { pto::cpu_sim::injected_pipe_shared_state_hook = hook; }
