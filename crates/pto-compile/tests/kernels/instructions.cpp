// Instructions whose simulation is ours.
#include "support.hpp"

#ifdef VECTOR_SIDE
// Converts 8 floats and back, so that results are floats whatever the type in between.
template <typename To, int SATURATION>
__global__ AICORE void through(__gm__ float *out, __gm__ float *in, RoundMode mode)
{
    using Between = Tile<TileType::Vec, To, 1, 32, BLayout::RowMajor, 1, 8>;
    Eight from;
    Between between;
    TASSIGN(from, 0);
    TASSIGN(between, 1024);
    EightInGm source(in), target(out);
    TLOAD(from, source);
    if constexpr (SATURATION == 0) TCVT(between, from, mode, SaturationMode::OFF);
    else if constexpr (SATURATION == 1) TCVT(between, from, mode, SaturationMode::ON);
    else TCVT(between, from, mode);
    TCVT(from, between, RoundMode::CAST_RINT);
    TSTORE(target, from);
}

__global__ AICORE void written_for_a2()
{
    set_mask_norm();
    set_vector_mask(-1, -1);
    pipe_barrier(PIPE_V);
    pipe_barrier(PIPE_ALL);
}

extern "C" int test(int which, double *results)
{
    static float in[8] = {0.5f, 1.5f, -2.5f, 70000.0f, -70000.0f, 3e9f, __builtin_nanf(""), -0.75f}, out[8];
    if (which == 0) through<int16_t, 0><<<1, nullptr, nullptr>>>(out, in, RoundMode::CAST_RINT);
    if (which == 1) through<int16_t, 1><<<1, nullptr, nullptr>>>(out, in, RoundMode::CAST_ROUND);
    if (which == 2) through<int16_t, 2><<<1, nullptr, nullptr>>>(out, in, RoundMode::CAST_FLOOR);
    if (which == 3) through<int32_t, 2><<<1, nullptr, nullptr>>>(out, in, RoundMode::CAST_TRUNC);
    if (which == 4) through<int32_t, 0><<<1, nullptr, nullptr>>>(out, in, RoundMode::CAST_CEIL);
    if (which == 5) written_for_a2<<<1, nullptr, nullptr>>>();
    for (int i = 0; i < 8; i++) results[i] = out[i];
    return 8;
}
#endif

#ifdef CUBE_SIDE
// A 32 x 16 tile goes to L0A; what lies from its middle on is a 16 x 16 tile to the product with the identity.
__global__ AICORE void second_half_of_l0a(__gm__ float *out, __gm__ float *in, __gm__ float *identity)
{
    using A = Tile<TileType::Mat, float, 32, 16, BLayout::ColMajor, 32, 16, SLayout::RowMajor, 512>;
    using B = Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512>;
    A a;
    B b;
    TileLeft<float, 32, 16> whole;
    TileLeft<float, 16, 16> half;
    TileRight<float, 16, 16> right;
    TileAcc<float, 16, 16> acc;
    TASSIGN(a, 0);
    TASSIGN(b, 4096);
    TASSIGN(whole, 0);
    TASSIGN(half, 16 * 16 * sizeof(float));
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    GlobalTensor<float, pto::Shape<1, 1, 1, 32, 16>, pto::Stride<512, 512, 512, 16, 1>> a_in_gm(in);
    SquareInGm b_in_gm(identity), out_in_gm(out);
    TLOAD(a, a_in_gm);
    TLOAD(b, b_in_gm);
    TMOV(whole, a);
    TMOV(right, b);
    TMATMUL(acc, half, right);
    TSTORE(out_in_gm, acc);
}

extern "C" int test(int, double *results)
{
    static float in[512], identity[256], out[512];
    for (int i = 0; i < 512; i++) in[i] = i;
    for (int i = 0; i < 256; i++) identity[i] = i % 17 == 0;
    second_half_of_l0a<<<1, nullptr, nullptr>>>(out, in, identity);
    for (int i = 0; i < 256; i++) results[i] = out[i];
    return 256;
}
#endif
