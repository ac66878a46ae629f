// y = x * sigmoid(x) = x / (1 + exp(-x)) over n numbers, f16 in and out, f32 in between, on all vector cores.
//
// In f16 alone exp(-x) overflows below x = -11 and each of the four steps rounds; in f32 the result is rounded once.
#include <pto/pto-inst.hpp>

using namespace pto;

#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)

using Length = pto::Shape<1, 1, 1, 1, -1>;
using Run = GlobalTensor<half, Length, pto::Stride<1, 1, 1, 1, 1>>;
template <typename T>
using Buffer = Tile<TileType::Vec, T, 1, TILE, BLayout::RowMajor, 1, -1>;

// UB, in bytes: two slots of one f16 tile each, x on its way in and y on its way out; behind them two f32 work tiles, which
// only the vector pipe touches and which therefore need no second copy.
constexpr uint32_t SLOT_BYTES = TILE * sizeof(half);
constexpr uint32_t WIDE_UB = 2 * SLOT_BYTES;
constexpr uint32_t WORK_UB = WIDE_UB + TILE * sizeof(float);
static_assert(WORK_UB + TILE * sizeof(float) <= 192 * 1024, "slots and work tiles must fit the UB of A2/A3");

// Between two vector instructions of which the second reads what the first writes. A5 keeps that order by itself, and its
// compiler refuses the barrier.
AICORE inline void vector_step()
{
#if defined(__DAV_C220_VEC__)
    pipe_barrier(PIPE_V);
#endif
}

// On the vector pipe: what is in `tile` becomes its SiLU.
AICORE void silu_in_place(Buffer<half> &tile, uint32_t count)
{
    Buffer<float> wide(count), work(count);
    TASSIGN(wide, WIDE_UB);
    TASSIGN(work, WORK_UB);

    TCVT(wide, tile, RoundMode::CAST_NONE);
    vector_step();
    TMULS(work, wide, -1.0f);
    vector_step();
    TEXP(work, work);
    vector_step();
    TADDS(work, work, 1.0f);
    vector_step();
    // Below x = -88 exp(-x) is infinite, and x / infinity is the right answer: 0.
    TDIV(work, wide, work);
    vector_step();
    TCVT(tile, work, RoundMode::CAST_RINT);
    // The next tile reuses the work tiles.
    vector_step();
}

AICORE void silu_tile(uint32_t slot, uint32_t count, __gm__ half *y, __gm__ half *x)
{
    const event_t event = static_cast<event_t>(slot);
    Run x_gm(x, Length(count)), y_gm(y, Length(count));
    Buffer<half> tile(count);
    TASSIGN(tile, slot * SLOT_BYTES);

    // The slot is free when the store of its previous tile has left it.
    wait_flag(PIPE_MTE3, PIPE_MTE2, event);
    TLOAD(tile, x_gm);

    // x has arrived.
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);
    silu_in_place(tile, count);

    // y is complete.
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    TSTORE(y_gm, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, event);
}

AICORE void silu(__gm__ half *y, __gm__ half *x, uint32_t n)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    // Both slots are free from the start.
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);

    const uint32_t tiles = n / TILE + (n % TILE != 0);
    uint32_t slot = 0;
    for (uint32_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
        const uint32_t first = tile * TILE;
        const uint32_t left = n - first;
        const uint32_t count = left < TILE ? left : TILE;
        silu_tile(slot, count, y + first, x + first);
        slot = 1 - slot;
    }

    // Take back what is left set; the last stores are then done.
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

#endif

extern "C" __global__ AICORE void silu_kernel(__gm__ half *y, __gm__ half *x, uint32_t n)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
    silu(y, x, n);
#endif
}

extern "C" void call_silu(uint32_t block_dim, void *stream, uint8_t *y, uint8_t *x, uint32_t n)
{
    silu_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)y, (__gm__ half *)x, n);
}
