// C = A @ B + D for A [m, DEPTH], B [DEPTH, WIDTH], C and D [m, WIDTH], f16 in and out, summed in f32: a mix kernel.
//
// One block is a cube core and its two vector cores. The cube multiplies a tile of M_TILE rows; each vector core adds D to
// half of its rows and stores them. Meanwhile the cube multiplies the block's next tile: block b of B works on the row tiles
// b, b + B, b + 2B, ...
//
// The generations differ in one thing, how the product gets from the cube to the vector cores: on A2/A3 through a workspace
// in GM, on A5 straight into their UB. The functions of the "hand-over" sections hide it.
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

// Half of a product, in f32: in the UB of a vector core at PRODUCT_UB, and with A2/A3 in GM before that.
using HalfProduct = Tile<TileType::Vec, float, HALF_ROWS, WIDTH, BLayout::RowMajor, -1, WIDTH>;
using WholeHalfProduct = Tile<TileType::Vec, float, HALF_ROWS, WIDTH, BLayout::RowMajor, HALF_ROWS, WIDTH>;
using ProductInGm = GlobalTensor<float, pto::Shape<1, 1, 1, -1, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
constexpr uint32_t PRODUCT_UB = 0;

// Cross-core flags. READY: a product is there for the vector cores. FREE: they are done with it, its place can be reused.
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

#if defined(CUBE_SIDE)

using RowsOfA = GlobalTensor<half, pto::Shape<1, 1, 1, -1, DEPTH>, pto::Stride<1, 1, 1, DEPTH, 1>>;
using WholeBInGm = GlobalTensor<half, pto::Shape<1, 1, 1, DEPTH, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
template <int ROWS_IN, int COLUMNS, int VALID_ROWS>
using InL1 = Tile<TileType::Mat, half, ROWS_IN, COLUMNS, BLayout::ColMajor, VALID_ROWS, COLUMNS, SLayout::RowMajor, 512>;
using Left = TileLeft<half, M_TILE, DEPTH>;
using Right = TileRight<half, DEPTH, WIDTH>;
using Sum = TileAcc<float, M_TILE, WIDTH>;
using StoredSum = TileAcc<float, M_TILE, WIDTH, -1, WIDTH>;

// L1, in bytes: B, then a tile of A. L0A, L0B and L0C hold one tile each, at 0.
constexpr uint32_t B_L1 = 0;
constexpr uint32_t A_L1 = B_L1 + DEPTH * WIDTH * sizeof(half);

// --- hand-over, the cube's side ---

// Sends the product of `rows` rows in L0C to the vector cores. `slot` is this block's place in the workspace.
AICORE void send_product(Sum &sum, uint32_t round, uint32_t rows, __gm__ float *slot)
{
#if __CCE_AICORE__ == 220
    if (round > 0) {
        wait_flag_dev(FREE);
    }
    ProductInGm slot_gm(slot, pto::Shape<1, 1, 1, -1, WIDTH>(rows));
    StoredSum sum_out(rows);
    TASSIGN(sum_out, 0);
    TSTORE(slot_gm, sum_out);
    // Travels behind the store on the same pipe: whoever sees the flag sees the product.
    ffts_cross_core_sync(PIPE_FIX, flag_message(READY));
#else
    if (round > 0) {
        wait_intra_block(PIPE_FIX, FREE);
        wait_intra_block(PIPE_FIX, FREE + SECOND_VECTOR);
    }
    WholeHalfProduct product;
    TASSIGN(product, PRODUCT_UB);
    // The upper half of the rows to the first vector core, the lower half to the second.
    TMOV<WholeHalfProduct, Sum, AccToVecMode::DualModeSplitM>(product, sum);
    set_intra_block(PIPE_FIX, READY);
    set_intra_block(PIPE_FIX, READY + SECOND_VECTOR);
#endif
}

// --- the multiplication ---

AICORE void load_b(Right &right, __gm__ half *b)
{
    WholeBInGm b_gm(b);
    InL1<DEPTH, WIDTH, DEPTH> b_l1;
    TASSIGN(b_l1, B_L1);
    TLOAD(b_l1, b_gm);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    // For good: every tile is multiplied by the same B.
    TMOV(right, b_l1);
}

AICORE void multiply_tile(Sum &sum, Right &right, uint32_t rows, __gm__ half *a)
{
    // Only the rows that exist are loaded. From there on the tile counts as whole: what stands in its other rows ends up in
    // rows of the product that are never stored.
    RowsOfA a_gm(a, pto::Shape<1, 1, 1, -1, DEPTH>(rows));
    InL1<M_TILE, DEPTH, -1> a_in(rows);
    InL1<M_TILE, DEPTH, M_TILE> a_l1;
    Left left;
    TASSIGN(a_in, A_L1);
    TASSIGN(a_l1, A_L1);
    TASSIGN(left, 0);

    TLOAD(a_in, a_gm);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, a_l1);
    // Also covers `right`, which came on the same pipe before.
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(sum, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
}

AICORE void run_cube(__gm__ half *a, __gm__ half *b, __gm__ float *workspace, uint32_t m)
{
    Right right;
    Sum sum;
    TASSIGN(right, 0);
    TASSIGN(sum, 0);
    load_b(right, b);

    // All buffers are free from the start, and again when a product has left L0C.
    set_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
    uint32_t round = 0;
    for (RowTile rows = row_tile(round, m); rows.count > 0; rows = row_tile(++round, m)) {
        wait_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
        multiply_tile(sum, right, rows.count, a + static_cast<uint64_t>(rows.first) * DEPTH);
        send_product(sum, round, rows.count, workspace + get_block_idx() * M_TILE * WIDTH);
        set_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
    }
    wait_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
    pipe_barrier(PIPE_ALL);
}

#endif

#if defined(VECTOR_SIDE)

using RowsInGm = GlobalTensor<half, pto::Shape<1, 1, 1, -1, WIDTH>, pto::Stride<1, 1, 1, WIDTH, 1>>;
template <typename T>
using Buffer = Tile<TileType::Vec, T, HALF_ROWS, WIDTH, BLayout::RowMajor, -1, WIDTH>;

// UB, in bytes: the product, then D as f32, D as f16, and C.
constexpr uint32_t WIDE_D_UB = PRODUCT_UB + HALF_ROWS * WIDTH * sizeof(float);
constexpr uint32_t D_UB = WIDE_D_UB + HALF_ROWS * WIDTH * sizeof(float);
constexpr uint32_t C_UB = D_UB + HALF_ROWS * WIDTH * sizeof(half);
static_assert(C_UB + HALF_ROWS * WIDTH * sizeof(half) <= 184 * 1024, "the tiles must fit the UB of A2/A3");

// Between two vector instructions of which the second reads what the first writes. A5 keeps that order by itself, and its
// compiler refuses the barrier.
AICORE inline void vector_step()
{
#if __CCE_AICORE__ == 220
    pipe_barrier(PIPE_V);
#endif
}

// --- hand-over, the vector cores' side ---

// Waits for the product. On A2/A3 it then has to be loaded, with this core's half of `slot` as the source.
AICORE void receive_product(HalfProduct &product, uint32_t rows, __gm__ float *slot)
{
#if __CCE_AICORE__ == 220
    wait_flag_dev(READY);
    if (rows > 0) {
        ProductInGm slot_gm(slot, pto::Shape<1, 1, 1, -1, WIDTH>(rows));
        TLOAD(product, slot_gm);
    }
#else
    wait_intra_block(PIPE_V, READY);
#endif
}

// Tells the cube that this core is done with the product. Both vector cores have to, also the one that had no rows.
AICORE void release_product()
{
#if __CCE_AICORE__ == 220
    ffts_cross_core_sync(PIPE_MTE2, flag_message(FREE));
#else
    set_intra_block(PIPE_V, FREE);
#endif
}

// --- the addition ---

AICORE void add_rows(HalfProduct &product, uint32_t rows, __gm__ half *c, __gm__ half *d)
{
    RowsInGm d_gm(d, pto::Shape<1, 1, 1, -1, WIDTH>(rows)), c_gm(c, pto::Shape<1, 1, 1, -1, WIDTH>(rows));
    Buffer<half> d_tile(rows), c_tile(rows);
    Buffer<float> wide(rows);
    TASSIGN(d_tile, D_UB);
    TASSIGN(c_tile, C_UB);
    TASSIGN(wide, WIDE_D_UB);

    TLOAD(d_tile, d_gm);
    // D has arrived, and on A2/A3 the product, which came on the same pipe before.
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TCVT(wide, d_tile, RoundMode::CAST_NONE);
    vector_step();
    TADD(wide, product, wide);
    vector_step();
    TCVT(c_tile, wide, RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(c_gm, c_tile);
}

AICORE void run_vector(__gm__ half *c, __gm__ half *d, __gm__ float *workspace, uint32_t m)
{
#if defined(__DAV_C220_VEC__)
    // A2/A3 vector instructions obey a lane mask which whoever ran before has left behind: all lanes on.
    set_mask_norm();
    set_vector_mask(-1, -1);
#endif
    const uint32_t above = get_subblockid() * HALF_ROWS;  // rows of the tile that are the other vector core's
    // All buffers are free from the start, and again when a tile has been stored.
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    uint32_t round = 0;
    for (RowTile tile = row_tile(round, m); tile.count > 0; tile = row_tile(++round, m)) {
        const uint32_t below = tile.count > above ? tile.count - above : 0;
        const uint32_t rows = below < HALF_ROWS ? below : HALF_ROWS;
        HalfProduct product(rows);
        TASSIGN(product, PRODUCT_UB);

        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        receive_product(product, rows, workspace + (get_block_idx() * M_TILE + above) * WIDTH);
        if (rows > 0) {
            const uint64_t at = static_cast<uint64_t>(tile.first + above) * WIDTH;
            add_rows(product, rows, c + at, d + at);
        }
        // The cube waits for the flag only if it has another tile: set it only then, so that none is left at the end.
        if (row_tile(round + 1, m).count > 0) {
            release_product();
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}

#endif

extern "C" __global__ AICORE void matmul_add_kernel(__gm__ half *c, __gm__ half *a, __gm__ half *b, __gm__ half *d,
                                                    __gm__ float *workspace, uint32_t m, uint64_t ffts)
{
#if __CCE_AICORE__ == 220
    set_ffts_base_addr(ffts);
#endif
#if defined(CUBE_SIDE)
    run_cube(a, b, workspace, m);
#endif
#if defined(VECTOR_SIDE)
    run_vector(c, d, workspace, m);
#endif
}

extern "C" void call_matmul_add(uint32_t block_dim, void *stream, uint8_t *c, uint8_t *a, uint8_t *b, uint8_t *d,
                                uint8_t *workspace, uint32_t m)
{
    uint64_t ffts = 0;
#if !defined(REGISTER_BASE)
    uint32_t length = 0;
    rtGetC2cCtrlAddr(&ffts, &length);
#endif
    matmul_add_kernel<<<block_dim, nullptr, stream>>>((__gm__ half *)c, (__gm__ half *)a, (__gm__ half *)b,
                                                      (__gm__ half *)d, (__gm__ float *)workspace, m, ffts);
}
