// Launchers of a library whose static objects do not survive the end of the process.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

struct Last {
    int what = 0;
    ~Last()
    {
        if (what == 1) {
            std::printf("destructor runs\n");
            *reinterpret_cast<volatile int *>(64) = 1;
        }
        if (what == 2) std::_Exit(4);
        if (what == 3)
            for (volatile int going = 1; going;) continue;
    }
};
static Last last;

extern "C" void crash_in_destructor(uint32_t, void *, int32_t *, uint32_t) { last.what = 1; }
extern "C" void exit_in_destructor(uint32_t, void *, int32_t *, uint32_t) { last.what = 2; }
extern "C" void hang_in_destructor(uint32_t, void *, int32_t *, uint32_t) { last.what = 3; }
extern "C" void throw_from_launcher(uint32_t, void *, int32_t *, uint32_t)
{
    throw std::runtime_error("no tiling for n = 3");
}
