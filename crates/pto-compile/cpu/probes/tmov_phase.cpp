#include "probe.hpp"
using Vec = ProbeVec<float, 16, 16>;
using Acc = pto::TileAcc<float, 16, 16>;
void probe(Vec &vec, Acc &acc)
{
    pto::TMOV_IMPL<Vec, Acc, pto::AccToVecMode::SingleModeVec0, pto::ReluPreMode::NoRelu, pto::STPhase::Unspecified>(vec, acc);
}
