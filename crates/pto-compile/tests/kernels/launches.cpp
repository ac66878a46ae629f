// All ways to write a launch. Not a launch: kernel<<<1, nullptr, nullptr>>>(out)
#include "support.hpp"
#include "launches.hpp"

namespace outer {
namespace inner {
template <typename T, int N, bool NEGATIVE>
__global__ AICORE void scaled(__gm__ T *out)
{
    fill<T, N>(out, static_cast<T>(NEGATIVE ? -N : N));
}
}  // namespace inner
}  // namespace outer

// Overloads, told apart by the arguments of the launch alone.
__global__ AICORE void overloaded(__gm__ float *out, int32_t value) { out[get_block_idx()] = static_cast<float>(value); }
__global__ AICORE void overloaded(__gm__ float *out, float value) { out[get_block_idx()] = value + 0.5f; }

// The device compiler knows block_idx, block_num, min and max everywhere; a kernel may still use the names.
__global__ AICORE void own_names(__gm__ float *out, uint32_t max)
{
    const uint32_t min = 1;
    out[0] = static_cast<float>(max - min);
}
__global__ AICORE void own_block_idx(__gm__ float *out)
{
    const uint32_t block_idx = get_block_idx() + 100;
    out[get_block_idx()] = static_cast<float>(block_idx);
}
__global__ AICORE void builtins(__gm__ float *out) { out[block_idx] = static_cast<float>(max(block_idx, 2) + 10 * min(block_num, 3u)); }

__global__ AICORE void count_blocks(__gm__ float *out) { out[get_block_idx()] = static_cast<float>(get_block_num()); }

#define LAUNCH_BY_MACRO(kernel, blocks, ...) \
    do { \
        kernel<<<blocks, nullptr, nullptr>>>(__VA_ARGS__); \
    } while (0)

template <int N>
void launch_by_template(float *out)
{
    outer::inner::scaled<float, N, (N > 4)><<<2, nullptr, nullptr>>>(out);
}

static int give(double *results, const float *values, int count)
{
    for (int i = 0; i < count; i++) results[i] = values[i];
    return count;
}

extern "C" int test(int which, double *results)
{
    static float out[128];
    const char *not_a_launch = "kernel<<<1, nullptr, nullptr>>>(out)";
    (void)not_a_launch;
    switch (which) {
        case 0:
            outer::inner::scaled<
                float, 2,
                (1 < 2)  // a comparison, not a bracket
                >
                <<<(3 + 1) >> 1, nullptr,
                   nullptr>>>
                (out);
            return give(results, out, 4);
        case 1:
            LAUNCH_BY_MACRO(overloaded, 2, out, 3);
            return give(results, out, 2);
        case 2:
            launch_from_header(out);
            return give(results, out, 3);
        case 3:  // two launches in one function, and two overloads
            overloaded<<<1, nullptr, nullptr>>>(out, 1), overloaded<<<1, nullptr, nullptr>>>(out + 1, 1.0f);
            return give(results, out, 2);
        case 4:  // two instantiations of one launch
            launch_by_template<4>(out);
            launch_by_template<8>(out + 8);
            return give(results, out, 24);
        case 5:
            own_names<<<1, nullptr, nullptr>>>(out, 9u);
            own_block_idx<<<2, nullptr, nullptr>>>(out + 1);
            builtins<<<4, nullptr, nullptr>>>(out + 3);
            return give(results, out, 7);
        default:  // as many blocks as `which` says
            count_blocks<<<which, nullptr, nullptr>>>(out);
            return give(results, out, which);
    }
}
