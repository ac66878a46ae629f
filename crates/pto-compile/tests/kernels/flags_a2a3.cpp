// Cross-core flags of A2/A3 in all modes. GM is written by plain stores: what is tested is who waits for whom.
#include "support.hpp"

constexpr uint32_t ROUNDS = 5;
constexpr uint32_t BLOCKS = 3;

// Mode 2, both ways, several rounds: the cube's set reaches both vector cores; theirs reach it when both have set.
__global__ AICORE void ping_pong(__gm__ float *out, __gm__ float *work)
{
    __gm__ float *mine = work + get_block_idx() * 4;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
#ifdef CUBE_SIDE
        mine[0] = static_cast<float>(round);
        ffts_cross_core_sync(PIPE_FIX, message(2, 0));
        wait_flag_dev(1);
        out[get_block_idx()] += mine[1] + mine[2];
#endif
#ifdef VECTOR_SIDE
        wait_flag_dev(0);
        mine[1 + get_subblockid()] = mine[0] * 10;
        ffts_cross_core_sync(PIPE_MTE3, message(2, 1));
#endif
    }
}

// Mode 1: the two vector cores of a block.
__global__ AICORE void both_vectors(__gm__ float *out, __gm__ float *work)
{
#ifdef VECTOR_SIDE
    const uint32_t sub = get_subblockid();
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        work[get_block_idx() * 2 + sub] = static_cast<float>(round * (sub + 1));
        ffts_cross_core_sync(PIPE_MTE3, message(1, 2));
        wait_flag_dev(2);
        out[get_block_idx() * 2 + sub] += work[get_block_idx() * 2 + 1 - sub];
        ffts_cross_core_sync(PIPE_MTE3, message(1, 3));
        wait_flag_dev(3);
    }
#endif
}

// Mode 0: all cores of one kind.
__global__ AICORE void everyone(__gm__ float *out, __gm__ float *work)
{
#ifdef VECTOR_SIDE
    const uint32_t me = get_block_idx() * 2 + get_subblockid(), count = 2 * get_block_num();
#else
    const uint32_t me = get_block_idx(), count = get_block_num();
    out += 2 * BLOCKS;
    work += 2 * BLOCKS;
#endif
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        work[me] = static_cast<float>(round);
        ffts_cross_core_sync(PIPE_MTE3, message(0, 4));
        wait_flag_dev(4);
        for (uint32_t i = 0; i < count; i++) out[me] += work[i];
        ffts_cross_core_sync(PIPE_MTE3, message(0, 5));
        wait_flag_dev(5);
    }
}

extern "C" int test(int which, double *results)
{
    static float out[3 * BLOCKS], work[4 * BLOCKS];
    if (which == 0) ping_pong<<<BLOCKS, nullptr, nullptr>>>(out, work);
    if (which == 1) both_vectors<<<BLOCKS, nullptr, nullptr>>>(out, work);
    if (which == 2) everyone<<<BLOCKS, nullptr, nullptr>>>(out, work);
    for (uint32_t i = 0; i < 3 * BLOCKS; i++) results[i] = out[i];
    return 3 * BLOCKS;
}
