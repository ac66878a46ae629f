#include "probe.hpp"
void probe(pto::TileAcc<float, 16, 16> &c, pto::TileLeft<half, 16, 16> &a, pto::TileRight<half, 16, 16> &b)
{
    pto::TMATMUL_ACC_IMPL(c, a, b);
}
