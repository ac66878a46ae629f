// Waits that nobody will end, one kind per number, and flags that are left set.
#include "support.hpp"

__global__ AICORE void go(int which)
{
#ifdef VECTOR_SIDE
    const bool second = get_subblockid() == 1;
    if (which == 0 && second) wait_flag_dev(2);  // a missing set
    if (which == 1) wait_flag_dev(3);            // the cube does nothing
    if (which == 2) {                            // circular: each waits before it sets
        wait_flag_dev(4);
        ffts_cross_core_sync(PIPE_MTE3, message(2, 5));
    }
    if (which == 3) wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
    if (which == 4 && !second) ffts_cross_core_sync(PIPE_MTE3, message(1, 6));  // the partner never arrives
    if (which == 5) {
        // Block 1 returns early; the others wait for all.
        if (get_block_idx() == 1) return;
        ffts_cross_core_sync(PIPE_MTE3, message(0, 7));
        wait_flag_dev(7);
    }
    if (which == 6) set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    if (which == 7) set_intra_block(PIPE_MTE3, 8);  // nobody waits
#endif
#ifdef CUBE_SIDE
    if (which == 2) {
        wait_flag_dev(5);
        ffts_cross_core_sync(PIPE_FIX, message(2, 4));
    }
    if (which == 8) wait_intra_block(PIPE_MTE1, 9 + 16);
#endif
}

extern "C" int test(int which, double *)
{
    go<<<2, nullptr, nullptr>>>(which);
    return 0;
}
