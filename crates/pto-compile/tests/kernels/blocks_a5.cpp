// What the cores of one A5 block share: intra-block flags, the vector cores' UB (TMOV) and the cube's L1 (TINSERT).
#include "support.hpp"

constexpr uint32_t SECOND = 16;  // the second vector core's flags, as the cube names them

using Acc = TileAcc<float, 16, 16>;
using Left = TileLeft<float, 16, 16>;
using Right = TileRight<float, 16, 16>;
using InL1 = Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512>;

#ifdef CUBE_SIDE
// acc = a @ identity
AICORE void product(Acc &acc, InL1 &a, __gm__ float *identity)
{
    InL1 b;
    Left left;
    Right right;
    TASSIGN(b, 4096);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    SquareInGm gm(identity);
    TLOAD(b, gm);
    TMOV(left, a);
    TMOV(right, b);
    TMATMUL(acc, left, right);
}
#endif

// The cube hands its result to the vector cores in the given way; each stores what it got to its own half of `out`.
template <AccToVecMode MODE, int ROWS, int COLUMNS>
__global__ AICORE void to_vectors(__gm__ float *out, __gm__ float *in, __gm__ float *identity)
{
    using Got = Tile<TileType::Vec, float, ROWS, COLUMNS, BLayout::RowMajor, ROWS, COLUMNS>;
    Got got;
    TASSIGN(got, 1024);
#ifdef CUBE_SIDE
    InL1 a;
    Acc acc;
    SquareInGm gm(in);
    TASSIGN(a, 0);
    TLOAD(a, gm);
    product(acc, a, identity);
    TMOV<Got, Acc, MODE>(got, acc);
    set_intra_block(PIPE_FIX, 3);
    set_intra_block(PIPE_FIX, 3 + SECOND);
#endif
#ifdef VECTOR_SIDE
    wait_intra_block(PIPE_MTE3, 3);
    using Out = GlobalTensor<float, pto::Shape<1, 1, 1, ROWS, COLUMNS>, pto::Stride<256, 256, 256, COLUMNS, 1>>;
    Out gm(out + get_subblockid() * 256);
    const bool mine = MODE == AccToVecMode::DualModeSplitM || MODE == AccToVecMode::DualModeSplitN ||
                      (MODE == AccToVecMode::SingleModeVec1) == (get_subblockid() == 1);
    if (mine) TSTORE(gm, got);
    pipe_barrier(PIPE_ALL);
#endif
}

// Each vector core inserts half of a tile into the cube's L1; the flags of the second are 16 further on there.
__global__ AICORE void to_cube(__gm__ float *out, __gm__ float *in, __gm__ float *identity)
{
    InL1 l1;
    TASSIGN(l1, 0);
#ifdef VECTOR_SIDE
    using Half = Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16>;
    using HalfFractal = Tile<TileType::Vec, float, 8, 16, BLayout::ColMajor, 8, 16, SLayout::RowMajor, 512>;
    using HalfInGm = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>>;
    Half half_tile;
    HalfFractal fractal;
    TASSIGN(half_tile, 0);
    TASSIGN(fractal, 1024);
    HalfInGm gm(in + get_subblockid() * 128);
    TLOAD(half_tile, gm);
    TMOV(fractal, half_tile);
    TINSERT(l1, fractal, static_cast<uint16_t>(8 * get_subblockid()), static_cast<uint16_t>(0));
    set_intra_block(PIPE_MTE3, 5);
#endif
#ifdef CUBE_SIDE
    wait_intra_block(PIPE_MTE1, 5);
    wait_intra_block(PIPE_MTE1, 5 + SECOND);
    Acc acc;
    product(acc, l1, identity);
    SquareInGm gm(out);
    TSTORE(gm, acc);
#endif
}

extern "C" int test(int which, double *results)
{
    static float in[256], identity[256], out[512];
    for (int i = 0; i < 256; i++) in[i] = i, identity[i] = i % 17 == 0;
    if (which == 0) to_vectors<AccToVecMode::SingleModeVec0, 16, 16><<<1, nullptr, nullptr>>>(out, in, identity);
    if (which == 1) to_vectors<AccToVecMode::SingleModeVec1, 16, 16><<<1, nullptr, nullptr>>>(out, in, identity);
    if (which == 2) to_vectors<AccToVecMode::DualModeSplitM, 8, 16><<<1, nullptr, nullptr>>>(out, in, identity);
    if (which == 3) to_vectors<AccToVecMode::DualModeSplitN, 16, 8><<<1, nullptr, nullptr>>>(out, in, identity);
    if (which == 4) to_cube<<<1, nullptr, nullptr>>>(out, in, identity);
    for (int i = 0; i < 512; i++) results[i] = out[i];
    return 512;
}
