// C = A @ B for A [m, DEPTH], B [DEPTH, WIDTH] and C [m, WIDTH], f16 in and out, summed in f32, on all cube cores.
//
// Any number of rows m; the other two sizes are fixed. Block b of B works on the row tiles b, b + B, b + 2B, ... of M_TILE
// rows. A tile's sum runs over DEPTH in steps of K_TILE. Data take the way GM -> L1 -> L0A and L0B -> L0C -> GM, each arrow
// on a pipe of its own (MTE2, MTE1, M, FIX); two slots in L1 and L0 let the pipes work on different steps at once.
#include <pto/pto-inst.hpp>

using namespace pto;

#if defined(__DAV_CUBE__) || defined(__DAV_C220_CUBE__)

constexpr uint32_t STEPS = DEPTH / K_TILE;
static_assert(DEPTH % K_TILE == 0, "the sum runs over whole steps");

// In GM: blocks of larger matrices, hence the strides. A tile of A or C may have fewer than M_TILE rows.
using BlockOfA = GlobalTensor<half, pto::Shape<1, 1, 1, -1, K_TILE>, pto::Stride<1, 1, 1, DEPTH, 1>>;
using BlockOfB = GlobalTensor<half, pto::Shape<1, 1, 1, K_TILE, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
using BlockOfC = GlobalTensor<half, pto::Shape<1, 1, 1, -1, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;

// In L1: fractal order (column-major blocks of row-major 16 x 32 bytes), which TLOAD makes on the way in.
template <int ROWS_IN, int COLUMNS, int VALID_ROWS>
using InL1 = Tile<TileType::Mat, half, ROWS_IN, COLUMNS, BLayout::ColMajor, VALID_ROWS, COLUMNS, SLayout::RowMajor, 512>;
using LoadedA = InL1<M_TILE, K_TILE, -1>;
using WholeA = InL1<M_TILE, K_TILE, M_TILE>;
using WholeB = InL1<K_TILE, WIDTH, K_TILE>;

using Left = TileLeft<half, M_TILE, K_TILE>;
using Right = TileRight<half, K_TILE, WIDTH>;
using Sum = TileAcc<float, M_TILE, WIDTH>;
using StoredSum = TileAcc<float, M_TILE, WIDTH, -1, WIDTH>;

// L1, in bytes: all of B, which every tile needs again, then two slots for A. L0A, L0B: two slots. L0C: one sum.
constexpr uint32_t A_BYTES = M_TILE * K_TILE * sizeof(half);
constexpr uint32_t B_BYTES = K_TILE * WIDTH * sizeof(half);
constexpr uint32_t A_L1 = STEPS * B_BYTES;
static_assert(A_L1 + 2 * A_BYTES <= 512 * 1024, "B and two blocks of A must fit L1");
static_assert(2 * A_BYTES <= 64 * 1024 && 2 * B_BYTES <= 64 * 1024, "two slots must fit L0A and L0B");
static_assert(M_TILE * WIDTH * sizeof(float) <= 128 * 1024, "the sum must fit L0C of A2/A3");

AICORE void load_b(__gm__ half *b)
{
    for (uint32_t step = 0; step < STEPS; ++step) {
        BlockOfB b_gm(b + step * K_TILE * WIDTH);
        WholeB b_l1;
        TASSIGN(b_l1, step * B_BYTES);
        TLOAD(b_l1, b_gm);
    }
    // B has arrived.
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
}

// Adds the product of one block of A, `rows` x K_TILE, and one of B to the sum.
AICORE void multiply_step(Sum &sum, uint32_t step, uint32_t rows, __gm__ half *a)
{
    const uint32_t slot = step % 2;
    const event_t event = static_cast<event_t>(slot);

    // Only the rows that exist are loaded. From here on the tile counts as whole: what stands in its other rows ends up in
    // rows of the sum that are never stored, and on-chip layouts need not know about the tail.
    BlockOfA a_gm(a + step * K_TILE, pto::Shape<1, 1, 1, -1, K_TILE>(rows));
    LoadedA a_in(rows);
    WholeA a_l1;
    WholeB b_l1;
    TASSIGN(a_in, A_L1 + slot * A_BYTES);
    TASSIGN(a_l1, A_L1 + slot * A_BYTES);
    TASSIGN(b_l1, step * B_BYTES);
    Left left;
    Right right;
    TASSIGN(left, slot * A_BYTES);
    TASSIGN(right, slot * B_BYTES);

    // GM -> L1, when the slot's previous block has gone on to L0A.
    wait_flag(PIPE_MTE1, PIPE_MTE2, event);
    TLOAD(a_in, a_gm);
    set_flag(PIPE_MTE2, PIPE_MTE1, event);
    wait_flag(PIPE_MTE2, PIPE_MTE1, event);

    // L1 -> L0, when the slot's previous blocks have been multiplied.
    wait_flag(PIPE_M, PIPE_MTE1, event);
    TMOV(left, a_l1);
    TMOV(right, b_l1);
    set_flag(PIPE_MTE1, PIPE_MTE2, event);
    set_flag(PIPE_MTE1, PIPE_M, event);
    wait_flag(PIPE_MTE1, PIPE_M, event);

    // L0 -> L0C. The first step overwrites what the last tile left there.
    if (step == 0) {
        TMATMUL(sum, left, right);
    } else {
        TMATMUL_ACC(sum, sum, left, right);
    }
    set_flag(PIPE_M, PIPE_MTE1, event);
}

AICORE void multiply_tile(uint32_t rows, __gm__ half *c, __gm__ half *a)
{
    BlockOfC c_gm(c, pto::Shape<1, 1, 1, -1, WIDTH>(rows));
    Sum sum;
    StoredSum sum_out(rows);
    TASSIGN(sum, 0);
    TASSIGN(sum_out, 0);

    // The previous tile has left L0C.
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    for (uint32_t step = 0; step < STEPS; ++step) {
        multiply_step(sum, step, rows, a);
    }

    // The sum is complete. The store rounds it to f16.
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TSTORE(c_gm, sum_out);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

AICORE void multiply(__gm__ half *c, __gm__ half *a, __gm__ half *b, uint32_t m)
{
    load_b(b);

    // All slots, and L0C, are free from the start.
    for (uint32_t slot = 0; slot < 2; ++slot) {
        set_flag(PIPE_MTE1, PIPE_MTE2, static_cast<event_t>(slot));
        set_flag(PIPE_M, PIPE_MTE1, static_cast<event_t>(slot));
    }
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);

    const uint32_t tiles = m / M_TILE + (m % M_TILE != 0);
    for (uint32_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
        const uint32_t first = tile * M_TILE;
        const uint32_t left = m - first;
        const uint32_t rows = left < M_TILE ? left : M_TILE;
        multiply_tile(rows, c + static_cast<uint64_t>(first) * WIDTH, a + static_cast<uint64_t>(first) * DEPTH);
    }

    // Take back what is left set, then wait for the last store to leave the core.
    for (uint32_t slot = 0; slot < 2; ++slot) {
        wait_flag(PIPE_MTE1, PIPE_MTE2, static_cast<event_t>(slot));
        wait_flag(PIPE_M, PIPE_MTE1, static_cast<event_t>(slot));
    }
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    pipe_barrier(PIPE_ALL);
}

#endif

extern "C" __global__ AICORE void matmul_kernel(__gm__ half *c, __gm__ half *a, __gm__ half *b, uint32_t m)
{
#if defined(__DAV_CUBE__) || defined(__DAV_C220_CUBE__)
    multiply(c, a, b, m);
#endif
}

extern "C" void call_matmul(uint32_t block_dim, void *stream, uint8_t *c, uint8_t *a, uint8_t *b, uint32_t m)
{
    matmul_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)c, (__gm__ half *)a, (__gm__ half *)b, m);
}
