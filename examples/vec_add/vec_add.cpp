// y = x + z over n numbers (f16), on all vector cores.
//
// Persistent: one block per core, however large n is. Block b of B works on tiles b, b + B, b + 2B, ...; only the last tile
// of all can be shorter than TILE. Two slots of on-chip memory take turns, so that one tile is loaded while another is added
// or stored.
#include <pto/pto-inst.hpp>

using namespace pto;

#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)

// A run of numbers in GM and on chip; how many of at most TILE is known only at run time, so both sizes are dynamic (-1).
using Length = pto::Shape<1, 1, 1, 1, -1>;
using Run = GlobalTensor<half, Length, pto::Stride<1, 1, 1, 1, 1>>;
using Buffer = Tile<TileType::Vec, half, 1, TILE, BLayout::RowMajor, 1, -1>;

// UB, in bytes: a slot holds x, z and y of one tile, 3 x 16 KiB; two slots.
constexpr uint32_t BUFFER_BYTES = TILE * sizeof(half);
constexpr uint32_t SLOT_BYTES = 3 * BUFFER_BYTES;
static_assert(2 * SLOT_BYTES <= 192 * 1024, "two slots must fit the UB of A2/A3");

AICORE void add_tile(uint32_t slot, uint32_t count, __gm__ half *y, __gm__ half *x, __gm__ half *z)
{
    const event_t event = static_cast<event_t>(slot);
    Run x_gm(x, Length(count)), z_gm(z, Length(count)), y_gm(y, Length(count));
    Buffer x_tile(count), z_tile(count), y_tile(count);
    TASSIGN(x_tile, slot * SLOT_BYTES);
    TASSIGN(z_tile, slot * SLOT_BYTES + BUFFER_BYTES);
    TASSIGN(y_tile, slot * SLOT_BYTES + 2 * BUFFER_BYTES);

    // The slot is free when the store of its previous tile has left it.
    wait_flag(PIPE_MTE3, PIPE_MTE2, event);
    TLOAD(x_tile, x_gm);
    TLOAD(z_tile, z_gm);

    // Both operands have arrived.
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);
    TADD(y_tile, x_tile, z_tile);

    // The sum is complete.
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    TSTORE(y_gm, y_tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, event);
}

AICORE void add(__gm__ half *y, __gm__ half *x, __gm__ half *z, uint32_t n)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    // Nothing has been stored yet: both slots are free from the start.
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);

    const uint32_t tiles = n / TILE + (n % TILE != 0);
    uint32_t slot = 0;
    for (uint32_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
        const uint32_t first = tile * TILE;
        const uint32_t left = n - first;
        const uint32_t count = left < TILE ? left : TILE;
        add_tile(slot, count, y + first, x + first, z + first);
        slot = 1 - slot;
    }

    // Take back what is left set: the last stores are then done, and the next kernel finds no flag of ours.
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

#endif

extern "C" __global__ AICORE void vec_add_kernel(__gm__ half *y, __gm__ half *x, __gm__ half *z, uint32_t n)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
    add(y, x, z, n);
#endif
}

extern "C" void call_vec_add(uint32_t block_dim, void *stream, uint8_t *y, uint8_t *x, uint8_t *z, uint32_t n)
{
    vec_add_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)y, (__gm__ half *)x, (__gm__ half *)z, n);
}
