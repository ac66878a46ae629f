// PTO-ISA's own CPU simulator, with its aborting checks turned into reports and its waits into ours.
#pragma once

#include <pto/common/type.hpp>

#undef PTO_CPU_ASSERT_1
#undef PTO_CPU_ASSERT_2
#define PTO_CPU_ASSERT_1(condition) \
    do { \
        if (!(condition)) ptocpu_violation(#condition, __FILE__, __LINE__); \
    } while (0)
#define PTO_CPU_ASSERT_2(condition, message) \
    do { \
        if (!(condition)) ptocpu_violation(#condition, __FILE__, __LINE__); \
    } while (0)

// A core is one thread already, so that the simulator's loops run in order. Its own would bring the code that starts threads
// into each kernel, once per instruction, to be compiled anew with each edit.
#define parallel_for_1d ptocpu_unused_parallel_for_1d
#define parallel_for_rows ptocpu_unused_parallel_for_rows
#include <pto/cpu/parallel.hpp>
#undef parallel_for_1d
#undef parallel_for_rows
namespace pto::cpu {
template <typename Each>
void parallel_for_1d(std::size_t begin, std::size_t end, std::size_t, Each each)
{
    for (std::size_t i = begin; i < end; i++) each(i);
}
template <typename Each>
void parallel_for_rows(std::size_t rows, std::size_t, Each each)
{
    for (std::size_t i = 0; i < rows; i++) each(i);
}
}  // namespace pto::cpu

// SYNCALL calls these by name where no later overload would be found: so the simulator's empty ones get another name, and
// ours are there before it is read.
#define SYNCALL_IMPL ptocpu_unused_SYNCALL_IMPL
#define SYNCALL_SOFT_IMPL ptocpu_unused_SYNCALL_SOFT_IMPL
#define SYNCALL_SOFT_AIC_IMPL ptocpu_unused_SYNCALL_SOFT_AIC_IMPL
#define SYNCALL_SOFT_MIX_IMPL ptocpu_unused_SYNCALL_SOFT_MIX_IMPL
#include <pto/common/cpu_stub.hpp>
#undef SYNCALL_IMPL
#undef SYNCALL_SOFT_IMPL
#undef SYNCALL_SOFT_AIC_IMPL
#undef SYNCALL_SOFT_MIX_IMPL

#include "waiting.hpp"

#define condition_variable ptocpu_condition_variable
#include <pto/pto-inst.hpp>
#undef condition_variable

// pto-inst.hpp defines both when neither is given; from here on the build's side decides.
#undef __DAV_CUBE__
#undef __DAV_VEC__
