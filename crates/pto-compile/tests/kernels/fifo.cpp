// A FIFO between the two sides of a block: the cube pushes more results than the pipe has slots, the vector cores pop them.
#include "support.hpp"

constexpr int TILES = 5;
using Acc = TileAcc<float, 16, 16>;
using Left = TileLeft<float, 16, 16>;
using Right = TileRight<float, 16, 16>;
using InL1 = Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512>;
using Half = Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16>;
using HalfInGm = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>>;
using Pipe = TPipe<0, Direction::DIR_C2V, 16 * 16 * sizeof(float), 2>;

__global__ AICORE void stream(__gm__ float *out, __gm__ float *in, __gm__ float *identity, int pops)
{
    Pipe pipe((__gm__ void *)nullptr, 0x4000, 0x0);
#ifdef CUBE_SIDE
    for (int i = 0; i < TILES; i++) {
        InL1 a, b;
        Left left;
        Right right;
        Acc acc;
        TASSIGN(a, 0);
        TASSIGN(b, 4096);
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(acc, 0);
        SquareInGm a_gm(in + 256 * i), b_gm(identity);
        TLOAD(a, a_gm);
        TLOAD(b, b_gm);
        TMOV(left, a);
        TMOV(right, b);
        TMATMUL(acc, left, right);
        TPUSH<Pipe, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, acc);
    }
#endif
#ifdef VECTOR_SIDE
    for (int i = 0; i < pops; i++) {
        Half tile;
        TASSIGN(tile, 0x4000);
        TPOP<Pipe, Half, TileSplitAxis::TILE_UP_DOWN>(pipe, tile);
        HalfInGm gm(out + 256 * i + 128 * get_subblockid());
        TSTORE(gm, tile);
        TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
    }
#endif
}

extern "C" int test(int which, double *results)
{
    static float in[256 * TILES], identity[256], out[256 * (TILES + 1)];
    for (int i = 0; i < 256 * TILES; i++) in[i] = i;
    for (int i = 0; i < 256; i++) identity[i] = i % 17 == 0;
    stream<<<2, nullptr, nullptr>>>(out, in, identity, TILES + which);
    int wrong = 0;
    for (int i = 0; i < 256 * TILES; i++) wrong += out[i] != in[i];
    results[0] = wrong;
    return 1;
}
