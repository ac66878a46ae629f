// y = softmax(x) along each row of a [rows, WIDTH] matrix of f32, on all vector cores.
//
// Any number of rows; WIDTH is fixed, because a row has to lie in the UB as a whole. Tiles of ROWS_TILE rows are dealt out to
// the blocks in turn, as in vec_add.
#include <pto/pto-inst.hpp>

using namespace pto;

#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)

// Up to ROWS_TILE whole rows: how many is dynamic (-1), how long they are is not.
using Rows = pto::Shape<1, 1, 1, -1, WIDTH>;
using RowsInGm = GlobalTensor<float, Rows, pto::Stride<1, 1, 1, WIDTH, 1>>;
using Buffer = Tile<TileType::Vec, float, ROWS_TILE, WIDTH, BLayout::RowMajor, -1, WIDTH>;
// One number per row, as a column: this is the layout that row reductions write and row broadcasts read.
using Column = Tile<TileType::Vec, float, ROWS_TILE, 1, BLayout::ColMajor, -1, 1>;

// UB, in bytes: two slots of 16 KiB; what only the vector pipe touches comes behind them.
constexpr uint32_t SLOT_BYTES = ROWS_TILE * WIDTH * sizeof(float);
constexpr uint32_t SCRATCH_UB = 2 * SLOT_BYTES;
constexpr uint32_t COLUMN_UB = SCRATCH_UB + SLOT_BYTES;
// PTO's row broadcasts on A2/A3 use the last 8 KiB of the UB themselves.
static_assert(COLUMN_UB + ROWS_TILE * sizeof(float) <= 184 * 1024, "the tiles must leave 8 KiB of the UB of A2/A3 free");

// Between two vector instructions of which the second reads what the first writes. A5 keeps that order by itself, and its
// compiler refuses the barrier.
AICORE inline void vector_step()
{
#if defined(__DAV_C220_VEC__)
    pipe_barrier(PIPE_V);
#endif
}

// On the vector pipe: each row of `tile` becomes its softmax.
AICORE void softmax_in_place(Buffer &tile, uint32_t rows)
{
    Buffer scratch(rows);
    Column column(rows);
    TASSIGN(scratch, SCRATCH_UB);
    TASSIGN(column, COLUMN_UB);

    // The largest element of a row becomes 0, so that exp cannot overflow.
    TROWMAX(column, tile, scratch);
    vector_step();
    TROWEXPANDSUB(tile, tile, column);
    vector_step();
    TEXP(tile, tile);
    vector_step();
    TROWSUM(column, tile, scratch);
    vector_step();
    TROWEXPANDDIV(tile, tile, column);
    // The next tile reuses scratch and column.
    vector_step();
}

AICORE void softmax_tile(uint32_t slot, uint32_t rows, __gm__ float *y, __gm__ float *x)
{
    const event_t event = static_cast<event_t>(slot);
    RowsInGm x_gm(x, Rows(rows)), y_gm(y, Rows(rows));
    Buffer tile(rows);
    TASSIGN(tile, slot * SLOT_BYTES);

    // The slot is free when the store of its previous tile has left it.
    wait_flag(PIPE_MTE3, PIPE_MTE2, event);
    TLOAD(tile, x_gm);

    // x has arrived.
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);
    softmax_in_place(tile, rows);

    // y is complete.
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    TSTORE(y_gm, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, event);
}

AICORE void softmax(__gm__ float *y, __gm__ float *x, uint32_t rows)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    // Both slots are free from the start.
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);

    const uint32_t tiles = rows / ROWS_TILE + (rows % ROWS_TILE != 0);
    uint32_t slot = 0;
    for (uint32_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
        const uint32_t first = tile * ROWS_TILE;
        const uint32_t left = rows - first;
        const uint32_t count = left < ROWS_TILE ? left : ROWS_TILE;
        const uint64_t at = static_cast<uint64_t>(first) * WIDTH;
        softmax_tile(slot, count, y + at, x + at);
        slot = 1 - slot;
    }

    // Take back what is left set; the last stores are then done.
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

#endif

extern "C" __global__ AICORE void softmax_kernel(__gm__ float *y, __gm__ float *x, uint32_t rows)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
    softmax(y, x, rows);
#endif
}

extern "C" void call_softmax(uint32_t block_dim, void *stream, uint8_t *y, uint8_t *x, uint32_t rows)
{
    softmax_kernel<<<block_dim, nullptr, stream>>>((__gm__ float *)y, (__gm__ float *)x, rows);
}
