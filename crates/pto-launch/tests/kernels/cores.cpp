// Kernels for the CPU runtime itself, as the compiler of the CPU target would write their launches down.
#include "ptocpu.h"

#include <cstdint>
#include <cstdlib>

namespace {

struct Args {
    int32_t *y;
    uint32_t n;
};

void launch(const char *type, ptocpu_trampoline run, uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    const ptocpu_site site = {type, "cores", "cores.cpp:1"};
    ptocpu_register(&site, PTOCPU_VECTOR, run);
    const void *const pointers[] = {y};
    ptocpu_launch(&site, blocks, stream, new Args{y, n}, [](void *args) { delete static_cast<Args *>(args); }, pointers, 1);
}

// Each core writes its part, and counts a warning.
void fill_core(void *arg, const ptocpu_core *core)
{
    auto *args = static_cast<Args *>(arg);
    for (uint32_t i = core->block; i < args->n; i += core->blocks) args->y[i] = static_cast<int32_t>(i + core->blocks);
    ptocpu_warn("a warning", "cores.cpp", 2);
}

void wait_core(void *, const ptocpu_core *)
{
    ptocpu_warn("a warning", "cores.cpp", 2);
    ptocpu_ffts_wait(2);
}

}  // namespace

extern "C" void cores_fill(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    launch("fill", fill_core, blocks, stream, y, n);
}

extern "C" void cores_wait(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    launch("wait", wait_core, blocks, stream, y, n);
}

extern "C" void cores_host_pointer(uint32_t blocks, void *stream, int32_t *, uint32_t n)
{
    launch("fill", fill_core, blocks, stream, static_cast<int32_t *>(std::calloc(n, 4)), n);
}
