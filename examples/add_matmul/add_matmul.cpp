// C = (A + B) @ D for A and B [m, DEPTH], D [DEPTH, WIDTH] and C [m, WIDTH], f16 in and out, the product summed in f32: a
// mix kernel.
//
// The other direction of matmul_add: in a block of one cube core and two vector cores, each vector core adds half of a
// tile's M_TILE rows, and the cube multiplies the whole tile by D. Meanwhile the vector cores add the block's next tile:
// block b of B works on the row tiles b, b + B, b + 2B, ...
//
// The generations differ in one thing, how the rows get from the vector cores to the cube: on A2/A3 through a workspace in
// GM, on A5 straight into the cube's L1. The functions of the "hand-over" sections hide it.
#include <pto/pto-inst.hpp>

// A2/A3 cross-core flags need an address that only the host can ask for. REGISTER_BASE tells A5, on host and device.
#if !defined(REGISTER_BASE)
#include <runtime/rt_ffts.h>
#endif

using namespace pto;

#if defined(__DAV_CUBE__) || defined(__DAV_C220_CUBE__)
#define CUBE_SIDE
#endif
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
#define VECTOR_SIDE
#endif

#if defined(CUBE_SIDE) || defined(VECTOR_SIDE)

constexpr uint32_t HALF_ROWS = M_TILE / 2;
static_assert(M_TILE % 32 == 0, "each half is made of fractals of 16 rows");

// Rows of A, B or A + B in GM; how many of at most M_TILE is known only at run time (-1).
using RowsInGm = GlobalTensor<half, pto::Shape<1, 1, 1, -1, DEPTH>, pto::Stride<1, 1, 1, DEPTH, 1>>;

// In L1: fractal order (column-major blocks of row-major 16 x 32 bytes).
template <int ROWS_IN, int COLUMNS, int VALID_ROWS>
using InL1 = Tile<TileType::Mat, half, ROWS_IN, COLUMNS, BLayout::ColMajor, VALID_ROWS, COLUMNS, SLayout::RowMajor, 512>;

// L1 of the cube core, in bytes: A + B, which on A5 the vector cores write, then D.
constexpr uint32_t ROWS_L1 = 0;
constexpr uint32_t D_L1 = ROWS_L1 + M_TILE * DEPTH * sizeof(half);

// Cross-core flags. READY: rows are there for the cube. FREE: the cube is done with them, their place can be reused.
constexpr uint32_t READY = 0;
constexpr uint32_t FREE = 1;

#if __CCE_AICORE__ == 220
// Mode 2: a cube core's set reaches both of its vector cores; theirs reach it as one, when both have set.
AICORE inline uint64_t flag_message(uint32_t flag)
{
    return 1 | (2 << 4) | (flag << 8);
}
#else
// A vector core knows each flag by its id. For the cube, the second vector core's flags are 16 further on.
constexpr uint32_t SECOND_VECTOR = 16;
#endif

// The rows of the block's `round`-th tile: `first` is its first row, `count` is 0 when there is no such tile.
struct RowTile {
    uint32_t first, count;
};

AICORE inline RowTile row_tile(uint32_t round, uint32_t m)
{
    const uint64_t first = (static_cast<uint64_t>(round) * get_block_num() + get_block_idx()) * M_TILE;
    if (first >= m) {
        return {m, 0};
    }
    const uint32_t left = m - static_cast<uint32_t>(first);
    return {static_cast<uint32_t>(first), left < M_TILE ? left : M_TILE};
}

#endif

#if defined(VECTOR_SIDE)

using SomeRows = Tile<TileType::Vec, half, HALF_ROWS, DEPTH, BLayout::RowMajor, -1, DEPTH>;
using AllRows = Tile<TileType::Vec, half, HALF_ROWS, DEPTH, BLayout::RowMajor, HALF_ROWS, DEPTH>;
using FractalRows =
    Tile<TileType::Vec, half, HALF_ROWS, DEPTH, BLayout::ColMajor, HALF_ROWS, DEPTH, SLayout::RowMajor, 512>;

// UB, in bytes: A, then B, A + B, and on A5 A + B in fractal order.
constexpr uint32_t ROWS_BYTES = HALF_ROWS * DEPTH * sizeof(half);
constexpr uint32_t A_UB = 0;
constexpr uint32_t B_UB = A_UB + ROWS_BYTES;
constexpr uint32_t SUM_UB = B_UB + ROWS_BYTES;
constexpr uint32_t FRACTAL_UB = SUM_UB + ROWS_BYTES;
static_assert(FRACTAL_UB + ROWS_BYTES <= 184 * 1024, "the tiles must fit the UB of A2/A3");

// --- hand-over, the vector cores' side ---

// Sends this core's `rows` rows of A + B in the UB to the cube; they start at row `above` of the tile. `slot` is their place
// in the workspace. A core that has no rows in a tail takes part in the flags all the same.
AICORE void send_rows(uint32_t round, uint32_t above, uint32_t rows, __gm__ half *slot)
{
#if __CCE_AICORE__ == 220
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    if (round > 0) {
        wait_flag_dev(FREE);
    }
    if (rows > 0) {
        RowsInGm slot_gm(slot, pto::Shape<1, 1, 1, -1, DEPTH>(rows));
        SomeRows sum(rows);
        TASSIGN(sum, SUM_UB);
        TSTORE(slot_gm, sum);
    }
    // Travels behind the store on the same pipe: whoever sees the flag sees the rows.
    ffts_cross_core_sync(PIPE_MTE3, flag_message(READY));
#else
    // The cube wants fractals. All rows of the half go, also those that do not exist: they end up in rows of C that are
    // never stored.
    AllRows sum;
    FractalRows fractal;
    InL1<M_TILE, DEPTH, M_TILE> rows_l1;
    TASSIGN(sum, SUM_UB);
    TASSIGN(fractal, FRACTAL_UB);
    TASSIGN(rows_l1, ROWS_L1);
    TMOV(fractal, sum);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    if (round > 0) {
        wait_intra_block(PIPE_MTE3, FREE);
    }
    TINSERT(rows_l1, fractal, static_cast<uint16_t>(above), static_cast<uint16_t>(0));
    set_intra_block(PIPE_MTE3, READY);
#endif
}

// --- the addition ---

AICORE void add_rows(uint32_t rows, __gm__ half *a, __gm__ half *b)
{
    RowsInGm a_gm(a, pto::Shape<1, 1, 1, -1, DEPTH>(rows)), b_gm(b, pto::Shape<1, 1, 1, -1, DEPTH>(rows));
    SomeRows a_tile(rows), b_tile(rows), sum(rows);
    TASSIGN(a_tile, A_UB);
    TASSIGN(b_tile, B_UB);
    TASSIGN(sum, SUM_UB);

    if (rows > 0) {
        TLOAD(a_tile, a_gm);
        TLOAD(b_tile, b_gm);
    }
    // Both operands have arrived. With no rows to load, the vector pipe still has to learn that the UB is free again, which
    // so far only MTE2 has waited for.
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    if (rows > 0) {
        TADD(sum, a_tile, b_tile);
    }
}

AICORE void run_vector(__gm__ half *a, __gm__ half *b, __gm__ half *workspace, uint32_t m)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    const uint32_t above = get_subblockid() * HALF_ROWS;  // rows of the tile that are the other vector core's
    // All buffers are free from the start, and again when the rows have left the UB.
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    uint32_t round = 0;
    for (RowTile tile = row_tile(round, m); tile.count > 0; tile = row_tile(++round, m)) {
        const uint32_t below = tile.count > above ? tile.count - above : 0;
        const uint32_t rows = below < HALF_ROWS ? below : HALF_ROWS;

        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        const uint64_t at = static_cast<uint64_t>(tile.first + above) * DEPTH;
        add_rows(rows, a + at, b + at);
        send_rows(round, above, rows, workspace + (get_block_idx() * M_TILE + above) * DEPTH);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}

#endif

#if defined(CUBE_SIDE)

using WholeDInGm = GlobalTensor<half, pto::Shape<1, 1, 1, DEPTH, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
using RowsOfC = GlobalTensor<half, pto::Shape<1, 1, 1, -1, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
using Left = TileLeft<half, M_TILE, DEPTH>;
using Right = TileRight<half, DEPTH, WIDTH>;
using Sum = TileAcc<float, M_TILE, WIDTH>;
using StoredSum = TileAcc<float, M_TILE, WIDTH, -1, WIDTH>;

// The first pipe of a round on this side: on A2/A3 the load of the rows, on A5, where they are in L1 already, the move on
// to L0A.
#if __CCE_AICORE__ == 220
constexpr pipe_t FIRST_PIPE = PIPE_MTE2;
#else
constexpr pipe_t FIRST_PIPE = PIPE_MTE1;
#endif

// --- hand-over, the cube's side ---

// Waits for `rows` rows and moves them to L0A; then the vector cores may send the next ones, if there are any.
AICORE void receive_rows(Left &left, uint32_t rows, bool more, __gm__ half *slot)
{
    InL1<M_TILE, DEPTH, M_TILE> rows_l1;
    TASSIGN(rows_l1, ROWS_L1);
#if __CCE_AICORE__ == 220
    wait_flag_dev(READY);
    // Only the rows that exist are loaded. From there on the tile counts as whole: what stands in its other rows ends up in
    // rows of C that are never stored.
    RowsInGm slot_gm(slot, pto::Shape<1, 1, 1, -1, DEPTH>(rows));
    InL1<M_TILE, DEPTH, -1> rows_in(rows);
    TASSIGN(rows_in, ROWS_L1);
    TLOAD(rows_in, slot_gm);
    // The vector cores wait for the flag only if there is another tile: set only then, none is left at the end.
    if (more) {
        ffts_cross_core_sync(PIPE_MTE2, flag_message(FREE));
    }
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, rows_l1);
#else
    wait_intra_block(PIPE_MTE1, READY);
    wait_intra_block(PIPE_MTE1, READY + SECOND_VECTOR);
    TMOV(left, rows_l1);
    if (more) {
        set_intra_block(PIPE_MTE1, FREE);
        set_intra_block(PIPE_MTE1, FREE + SECOND_VECTOR);
    }
#endif
}

// --- the multiplication ---

AICORE void load_d(Right &right, __gm__ half *d)
{
    WholeDInGm d_gm(d);
    InL1<DEPTH, WIDTH, DEPTH> d_l1;
    TASSIGN(d_l1, D_L1);
    TLOAD(d_l1, d_gm);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    // For good: every tile is multiplied by the same D.
    TMOV(right, d_l1);
}

AICORE void multiply_tile(Left &left, Right &right, uint32_t rows, __gm__ half *c)
{
    Sum sum;
    StoredSum sum_out(rows);
    TASSIGN(sum, 0);
    TASSIGN(sum_out, 0);
    // Also covers `right`, which came on the same pipe as `left` before.
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(sum, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    // The store rounds to f16.
    RowsOfC c_gm(c, pto::Shape<1, 1, 1, -1, WIDTH>(rows));
    TSTORE(c_gm, sum_out);
}

AICORE void run_cube(__gm__ half *c, __gm__ half *d, __gm__ half *workspace, uint32_t m)
{
    Left left;
    Right right;
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    load_d(right, d);

    // All buffers are free from the start, and again when a tile of C has left L0C.
    set_flag(PIPE_FIX, FIRST_PIPE, EVENT_ID0);
    uint32_t round = 0;
    for (RowTile tile = row_tile(round, m); tile.count > 0; tile = row_tile(++round, m)) {
        const bool more = row_tile(round + 1, m).count > 0;
        wait_flag(PIPE_FIX, FIRST_PIPE, EVENT_ID0);
        receive_rows(left, tile.count, more, workspace + get_block_idx() * M_TILE * DEPTH);
        multiply_tile(left, right, tile.count, c + static_cast<uint64_t>(tile.first) * WIDTH);
        set_flag(PIPE_FIX, FIRST_PIPE, EVENT_ID0);
    }
    wait_flag(PIPE_FIX, FIRST_PIPE, EVENT_ID0);
    pipe_barrier(PIPE_ALL);
}

#endif

extern "C" __global__ AICORE void add_matmul_kernel(__gm__ half *c, __gm__ half *a, __gm__ half *b, __gm__ half *d,
                                                    __gm__ half *workspace, uint32_t m, uint64_t ffts)
{
#if __CCE_AICORE__ == 220
    set_ffts_base_addr(ffts);
#endif
#if defined(CUBE_SIDE)
    run_cube(c, d, workspace, m);
#endif
#if defined(VECTOR_SIDE)
    run_vector(a, b, workspace, m);
#endif
}

extern "C" void call_add_matmul(uint32_t block_dim, void *stream, uint8_t *c, uint8_t *a, uint8_t *b, uint8_t *d,
                                uint8_t *workspace, uint32_t m)
{
    uint64_t ffts = 0;
#if !defined(REGISTER_BASE)
    uint32_t length = 0;
    rtGetC2cCtrlAddr(&ffts, &length);
#endif
    add_matmul_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)c, (__gm__ half *)a, (__gm__ half *)b,
                                                      (__gm__ half *)d, (__gm__ half *)workspace, m, ffts);
}
