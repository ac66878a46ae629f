#include "probe.hpp"
void probe(ProbeVec<float, 8, 8> &out, ProbeVec<float, 16, 16> &in) { pto::TROWSUM_IMPL(out, in, in); }
