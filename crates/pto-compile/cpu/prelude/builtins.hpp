// What the device compiler provides by itself: side guards, core indices, flags, unqualified min and max.
#pragma once

#if PTOCPU_A5
#define __CCE_AICORE__ 310
#else
#define __CCE_AICORE__ 220
#endif
#if PTOCPU_SIDE == 0
#define __DAV_VEC__ 1
#if PTOCPU_A5
#define __DAV_C310_VEC__ 1
#else
#define __DAV_C220_VEC__ 1
#endif
#else
#define __DAV_CUBE__ 1
#if PTOCPU_A5
#define __DAV_C310_CUBE__ 1
#else
#define __DAV_C220_CUBE__ 1
#endif
#endif

#ifndef EVENT_ID1
#define EVENT_ID1 1
#define EVENT_ID2 2
#define EVENT_ID3 3
#define EVENT_ID4 4
#define EVENT_ID5 5
#define EVENT_ID6 6
#define EVENT_ID7 7
#endif

namespace ptocpu {

inline thread_local uint32_t blocks = 1;

// Objects, not macros: kernels have local variables of these names.
struct BlockIdx {
    operator uint32_t() const { return get_block_idx(); }
};
struct BlockNum {
    operator uint32_t() const { return blocks; }
};

template <typename T>
using value_of = std::conditional_t<std::is_same_v<T, BlockIdx> || std::is_same_v<T, BlockNum>, uint32_t, T>;
template <typename A, typename B>
using common = std::common_type_t<value_of<A>, value_of<B>>;

}  // namespace ptocpu

inline constexpr ptocpu::BlockIdx block_idx;
inline constexpr ptocpu::BlockNum block_num;

#if !PTOCPU_HAS_GET_BLOCK_NUM
inline uint32_t get_block_num() { return ptocpu::blocks; }
#endif

template <typename A, typename B>
constexpr ptocpu::common<A, B> min(const A &a, const B &b)
{
    const ptocpu::common<A, B> x = a, y = b;
    return y < x ? y : x;
}
template <typename A, typename B>
constexpr ptocpu::common<A, B> max(const A &a, const B &b)
{
    const ptocpu::common<A, B> x = a, y = b;
    return x < y ? y : x;
}

// Flags between the pipes of one core: nothing to wait for here, but counted (see runtime.cpp, check_pipes).
#undef set_flag
#undef wait_flag
#define set_flag(source, destination, event) \
    ptocpu_pipe_set(static_cast<int>(source), static_cast<int>(destination), static_cast<int>(event))
#define wait_flag(source, destination, event) \
    ptocpu_pipe_wait(static_cast<int>(source), static_cast<int>(destination), static_cast<int>(event))

// Cross-core flags. The pipe says when the device sends the signal; here everything before it has already happened.
template <typename Pipe>
inline void ffts_cross_core_sync(Pipe, uint64_t message) { ptocpu_ffts_set(message); }
inline void wait_flag_dev(int64_t flag) { ptocpu_ffts_wait(static_cast<uint32_t>(flag)); }
template <typename Pipe>
inline void wait_flag_dev(Pipe, int64_t flag) { ptocpu_ffts_wait(static_cast<uint32_t>(flag)); }
inline void set_ffts_base_addr(uint64_t) {}
template <typename Pipe>
inline void set_intra_block(Pipe, uint64_t flag) { ptocpu_intra_set(static_cast<uint32_t>(flag)); }
template <typename Pipe>
inline void wait_intra_block(Pipe, uint64_t flag) { ptocpu_intra_wait(static_cast<uint32_t>(flag)); }

#if PTOCPU_A5
// What A2/A3 has and the compiler for A5 refuses: counted, as a kernel that uses it would not get as far as running there.
#define PTOCPU_NOT_ON_A5(what) ptocpu_warn("the compiler for A5 refuses `" what "`: guard it for A2/A3", __FILE__, __LINE__)
#undef set_mask_norm
#undef set_vector_mask
#define set_mask_norm(...) PTOCPU_NOT_ON_A5("set_mask_norm")
#define set_vector_mask(...) PTOCPU_NOT_ON_A5("set_vector_mask")
#define pipe_barrier(pipe) ((pipe) == PIPE_V ? PTOCPU_NOT_ON_A5("pipe_barrier(PIPE_V)") : void())
#endif

// State that the simulator's instructions do not read.
template <typename... Args>
inline void set_padding(Args...) {}
inline void set_atomic_none() {}

// The size that kernels plan with; PTO-ISA's headers for the device define it the same way.
#ifndef PTO_UBUF_SIZE_BYTES
#define PTO_UBUF_SIZE_BYTES PTOCPU_UB_BYTES
#endif

#if defined(__clang__) && PTOCPU_HAS_BF16
// Clang turns a conversion to bf16 into a call of these where the processor has no instruction, but libgcc has them only
// from version 13 on. Round to nearest, ties to even; a NaN stays a NaN.
extern "C" __attribute__((weak)) __bf16 __truncsfbf2(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint16_t top = static_cast<uint16_t>(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    __bf16 result;
    std::memcpy(&result, &top, sizeof result);
    return result;
}
extern "C" __attribute__((weak)) __bf16 __truncdfbf2(double value)
{
    // To odd first: a float made so carries enough for the second rounding to be right.
    float once = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &once, sizeof bits);
    if (static_cast<double>(once) != value && value == value && !(bits & 1)) {
        const bool away = (once > value) == (value > 0);
        bits = away ? bits - 1 : bits | 1;
        std::memcpy(&once, &bits, sizeof once);
    }
    return __truncsfbf2(once);
}
#endif
