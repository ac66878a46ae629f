// The C interface between a kernel compiled for the CPU and the runtime that plays the NPU's cores for it.
//
// A kernel library is built from one translation unit per side (vector, cube). Each side registers a trampoline per launch
// site; the side that holds the launcher starts the launch; the runtime runs one thread per core and gives them cross-core
// flags. Units: bytes; cores are named block.subblock as on the device. What a call says in words is put together behind it:
// code in the kernel's library is compiled anew with each edit.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ptocpu_side { PTOCPU_VECTOR = 0, PTOCPU_CUBE = 1 };

// What one core is told before the kernel runs on it.
struct ptocpu_core {
    uint32_t block;    // block index
    uint32_t sub;      // subblock: 0 or 1 on the vector side of a mix launch, else 0
    uint32_t sub_dim;  // 2 on the vector side of a mix launch, else 1
    uint32_t blocks;   // block_dim of the launch
};

// The memories on the chip.
enum ptocpu_memory { PTOCPU_UB, PTOCPU_L1, PTOCPU_L0A, PTOCPU_L0B, PTOCPU_L0C, PTOCPU_MEMORIES };

// A launch in a source. All three together are the same on both sides, and no other site's in this process.
struct ptocpu_site {
    const char *type;     // mangled: tells instantiations of one template apart
    const char *library;  // tells functions of one name in two libraries apart
    const char *where;    // "file:line", tells those in two sources apart
};

// Runs the kernel of one launch site on the calling thread.
typedef void (*ptocpu_trampoline)(void *args, const struct ptocpu_core *core);

// Registers one side of a launch site.
void ptocpu_register(const struct ptocpu_site *site, int side, ptocpu_trampoline run);

// Starts a launch on `stream`. Takes `args`; `drop(args)` is called once when the launch is over. `pointers` are the pointer
// arguments, for the check that they name device memory.
void ptocpu_launch(const struct ptocpu_site *site, uint32_t blocks, void *stream, void *args, void (*drop)(void *),
                   const void *const *pointers, size_t pointer_count);

// Loads the other side of a mix kernel, which lies beside the library that `anchor` points into.
void ptocpu_load_sibling(const void *anchor, const char *file_name);

// Cross-core flags, A2/A3: `message` is what ffts_cross_core_sync takes (mode in bits 4-5, flag in bits 8-11).
void ptocpu_ffts_set(uint64_t message);
void ptocpu_ffts_wait(uint32_t flag);
// Cross-core flags, A5: flags of one block; ids from 16 on name the second vector core when the cube core uses them.
void ptocpu_intra_set(uint32_t flag);
void ptocpu_intra_wait(uint32_t flag);
// All cores of one kind (0 vector, 1 cube) or of the whole mix launch (2) meet.
void ptocpu_sync_all(int kind);
// As many cores meet as `members` says, whichever come first; `counter` tells meetings apart.
void ptocpu_sync_some(const void *counter, uint32_t members);

// Memory that all cores of a block share for the time of one launch, zero at first.
void *ptocpu_block_storage(const char *key, size_t size);
// Waiting for a change of shared state: changes are counted in `counter`, which the runtime alone touches.
uint64_t ptocpu_condition_changes(const uint64_t *counter);
void ptocpu_condition_change(uint64_t *counter);
void ptocpu_condition_wait(const uint64_t *counter, uint64_t seen, const char *what);

// Flags between the pipes of one core: they cannot block a core that runs its pipes in program order, but a wait without a
// set hangs the device, so they are counted.
void ptocpu_pipe_set(int source, int destination, int event);
void ptocpu_pipe_wait(int source, int destination, int event);

// The on-chip memories of the calling thread's core. They are poisoned, so that reading what was never written shows: 0xFF in every
// byte is a NaN in every float type, and -1 or the largest value in the integer types. The peers of its block see them.
void ptocpu_publish(void *const bases[PTOCPU_MEMORIES], const size_t sizes[PTOCPU_MEMORIES]);
// The address of byte `at` of a memory; an address within one of the memories is itself. Faults unless `bytes` from there on
// end within the memory. NULL before this thread has published its memories.
void *ptocpu_place(enum ptocpu_memory memory, uintptr_t at, size_t bytes);
// The same memory of a peer.
void *ptocpu_peer_ub(uint32_t sub);
void *ptocpu_peer_l1(void);

// The device moves what the tile says is valid. A GlobalTensor of another shape is worth a warning, not a stop.
void ptocpu_warn_of_shapes(const char *instruction, int64_t rows, int64_t columns, int64_t global_rows, int64_t global_columns);

// A violated condition of the simulator. Shape conditions are counted; bounds and the kernel's own conditions end the launch.
void ptocpu_violation(const char *condition, const char *file, int line);
// The same, always only counted.
void ptocpu_warn(const char *text, const char *file, int line);
// Ends the launch with a verdict. Does not return.
void ptocpu_fault(int32_t code, const char *reason);

// Warnings of all launches of this process so far, as one JSON array of {"text", "file", "line", "count"}. Returns the length
// needed, NUL not counted; writes at most `size` bytes.
size_t ptocpu_report(char *text, size_t size);

#ifdef __cplusplus
}
#endif
