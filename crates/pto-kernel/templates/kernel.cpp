#include <pto/pto-inst.hpp>

#include <cstdint>

using namespace pto;

// kernel.toml compiles this in: the elements one core handles at a time.
#ifndef TILE
#define TILE 16384
#endif

// Where the tiles lie in the Unified Buffer, in bytes.
constexpr uint32_t TILE_BYTES = TILE * sizeof(half);
constexpr uint32_t X_AT = 0;
constexpr uint32_t Z_AT = X_AT + TILE_BYTES;
constexpr uint32_t Y_AT = Z_AT + TILE_BYTES;
static_assert(TILE_BYTES % 32 == 0, "a tile has to fill whole blocks of 32 bytes");
static_assert(Y_AT + TILE_BYTES <= 192 * 1024, "three tiles have to fit into the Unified Buffer of A2 and A3");

// The length is dynamic, so that a tail is loaded and stored as long as it is and no longer.
using Row = GlobalTensor<half, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<1, 1, 1, 1, 1>>;
using VecTile = Tile<TileType::Vec, half, 1, TILE, BLayout::RowMajor, 1, -1>;

__global__ AICORE void @NAME@_kernel(__gm__ half *y, __gm__ half *x, __gm__ half *z, uint32_t n)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
#if defined(__DAV_C220_VEC__)
    // A2 and A3 start a kernel with the vector mask of the one before it.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    const uint32_t cores = get_block_num();
    const uint32_t tiles = (n + TILE - 1) / TILE;

    for (uint32_t tile = get_block_idx(); tile < tiles; tile += cores) {
        const uint32_t begin = tile * TILE;
        const uint32_t length = n - begin < TILE ? n - begin : TILE;

        Row xGlobal(x + begin, {static_cast<int>(length)});
        Row zGlobal(z + begin, {static_cast<int>(length)});
        Row yGlobal(y + begin, {static_cast<int>(length)});

        VecTile xTile(length), zTile(length), yTile(length);
        TASSIGN(xTile, X_AT);
        TASSIGN(zTile, Z_AT);
        TASSIGN(yTile, Y_AT);

        TLOAD(xTile, xGlobal);
        TLOAD(zTile, zGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // loads are done before the sum begins
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);

        TADD(yTile, xTile, zTile);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); // the sum is done before the store begins
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);

        TSTORE(yGlobal, yTile);
        pipe_barrier(PIPE_ALL); // the store is done before the next tile overwrites the buffers
    }
#endif
}

extern "C" void call_@NAME@(uint32_t block_dim, void *stream, void *y, void *x, void *z, uint32_t n)
{
    @NAME@_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)y, (__gm__ half *)x, (__gm__ half *)z, n);
}
