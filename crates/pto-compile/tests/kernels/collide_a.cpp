// A library that loads another one with kernels and launchers of the same names, on the same lines.
#include "support.hpp"
#include <dlfcn.h>
static __global__ AICORE void same(__gm__ float *out) { out[0] = 1; }
static void launch(float *out) { same<<<1, nullptr, nullptr>>>(out); }
extern "C" void call(float *out) { launch(out); }

#ifdef OTHER
extern "C" int test(int, double *results)
{
    void *other = dlopen(OTHER, RTLD_NOW | RTLD_LOCAL);
    if (other == nullptr) return 0;
    float out = 0;
    call(&out);
    results[0] = out;
    reinterpret_cast<void (*)(float *)>(dlsym(other, "call"))(&out);
    results[1] = out;
    return 2;
}
#endif
