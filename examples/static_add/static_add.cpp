// y = x + z for two matrices of SIDE x SIDE numbers (f16), on one vector core: the smallest whole PTO kernel.
//
// A core computes only on its own memory, the UB. So a kernel says three things: what to copy in, what to compute, what to
// copy out. Each of the three runs on its own pipe (MTE2, V, MTE3), and pipes do not wait for each other unless told to.
#include <pto/pto-inst.hpp>

using namespace pto;

// The vector core's part. The same file is also compiled for the host, which knows no tiles.
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)

// A matrix in global memory (GM). PTO tensors have five dimensions; a matrix uses the last two.
using Matrix = GlobalTensor<half, pto::Shape<1, 1, 1, SIDE, SIDE>, pto::Stride<1, 1, 1, SIDE, 1>>;

// The same matrix on chip. A row of 64 f16 is 128 bytes; the hardware wants multiples of 32.
using Buffer = Tile<TileType::Vec, half, SIDE, SIDE, BLayout::RowMajor, SIDE, SIDE>;

// Where the tiles lie in the UB, in bytes: three tiles of 8 KiB, one after the other.
constexpr uint32_t BUFFER_BYTES = SIDE * SIDE * sizeof(half);
constexpr uint32_t X_UB = 0;
constexpr uint32_t Z_UB = X_UB + BUFFER_BYTES;
constexpr uint32_t Y_UB = Z_UB + BUFFER_BYTES;

AICORE void add(__gm__ half *y, __gm__ half *x, __gm__ half *z)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    Matrix x_gm(x), z_gm(z), y_gm(y);
    Buffer x_tile, z_tile, y_tile;
    TASSIGN(x_tile, X_UB);
    TASSIGN(z_tile, Z_UB);
    TASSIGN(y_tile, Y_UB);

    TLOAD(x_tile, x_gm);
    TLOAD(z_tile, z_gm);

    // The vector pipe must not start before both loads have arrived.
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(y_tile, x_tile, z_tile);

    // The store must not start before the sum is complete.
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y_gm, y_tile);

    // The core must not be given away before the store has left it.
    pipe_barrier(PIPE_ALL);
}

#endif

extern "C" __global__ AICORE void static_add_kernel(__gm__ half *y, __gm__ half *x, __gm__ half *z)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
    add(y, x, z);
#endif
}

// The launcher: what the host calls.
extern "C" void call_static_add(uint32_t block_dim, void *stream, uint8_t *y, uint8_t *x, uint8_t *z)
{
    static_add_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)y, (__gm__ half *)x, (__gm__ half *)z);
}
