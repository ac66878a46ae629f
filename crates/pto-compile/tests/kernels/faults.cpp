// Mistakes that the device would punish, or not even notice.
#include "support.hpp"
#include <cassert>

template <TileType WHERE, int ROWS, int COLUMNS>
using Big = Tile<WHERE, float, ROWS, COLUMNS, BLayout::ColMajor, ROWS, COLUMNS, SLayout::RowMajor, 512>;

__global__ AICORE void go(int which, __gm__ float *out)
{
    Eight tile;
    EightInGm gm(out);
    if (which == 0) {  // 32 bytes that end where UB ends: fine
        TASSIGN(tile, UB_BYTES - 32);
        TLOAD(tile, gm);
    }
    if (which == 1) TASSIGN(tile, UB_BYTES - 31);
    if (which == 2) {
        Big<TileType::Mat, 256, 256> l1;
        TASSIGN(l1, 300000);
    }
    if (which == 3) {
        TileAcc<float, 128, 128> acc;
        TASSIGN(acc, L0C_BYTES - 128 * 128 * 4 + 512);
    }
    if (which == 4) {  // what was never written is no number
        TASSIGN(tile, 64);
        TSTORE(gm, tile);
    }
    if (which == 5) {
        // The tile is valid in 16 rows, the tensor has 8.
        Square square;
        TASSIGN(square, 0);
        for (int i = 0; i < 3; i++) {
            using Narrow = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>>;
            Narrow narrow(out);
            TLOAD(square, narrow);
        }
    }
    if (which == 6) assert(get_block_idx() == 7);
    if (which == 7) throw std::runtime_error("thrown by the kernel");
    if (which == 8) throw 42;
}

extern "C" int test(int which, double *results)
{
    static float out[256];
    go<<<1, nullptr, nullptr>>>(which, out);
    for (int i = 0; i < 8; i++) results[i] = out[i];
    return 8;
}
