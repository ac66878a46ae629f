#include "probe.hpp"
void probe(ProbeGlobal<half> &out, pto::TileAcc<float, 16, 16> &acc)
{
    pto::TSTORE_IMPL<pto::TileAcc<float, 16, 16>, ProbeGlobal<half>, pto::AtomicType::AtomicNone>(out, acc);
}
