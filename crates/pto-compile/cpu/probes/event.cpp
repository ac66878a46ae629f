#include "probe.hpp"
void probe(pto::Event<pto::Op::TLOAD, pto::Op::TADD> &event) { event.Wait(); }
