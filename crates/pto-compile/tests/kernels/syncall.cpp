// SYNCALL among the vector cores, the cubes, and all of them: after each meeting everyone sees what everyone wrote before it.
#include "support.hpp"

constexpr uint32_t BLOCKS = 4;
constexpr uint32_t ROUNDS = 3;

template <SyncCoreType CORES>
__global__ AICORE void meet(__gm__ float *out, __gm__ float *work)
{
    // Slots: the cubes', then the vector cores'.
#ifdef CUBE_SIDE
    const uint32_t me = get_block_idx();
    const bool takes_part = CORES != SyncCoreType::AIVOnly;
#else
    const uint32_t me = BLOCKS + 2 * get_block_idx() + get_subblockid();
    const bool takes_part = CORES != SyncCoreType::AICOnly;
#endif
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (takes_part) work[me] = static_cast<float>(round);
        SYNCALL<CORES>();
        float sum = 0;
        if (takes_part)
            for (uint32_t i = 0; i < 3 * BLOCKS; i++) sum += work[i];
        SYNCALL<CORES>();
        if (takes_part) out[me] += sum;
    }
}

extern "C" int test(int which, double *results)
{
    static float out[3 * BLOCKS], work[3 * BLOCKS];
    if (which == 0) meet<SyncCoreType::AIVOnly><<<BLOCKS, nullptr, nullptr>>>(out, work);
    if (which == 1) meet<SyncCoreType::AICOnly><<<BLOCKS, nullptr, nullptr>>>(out, work);
    if (which == 2) meet<SyncCoreType::Mix><<<BLOCKS, nullptr, nullptr>>>(out, work);
    for (uint32_t i = 0; i < 3 * BLOCKS; i++) results[i] = out[i];
    return 3 * BLOCKS;
}
