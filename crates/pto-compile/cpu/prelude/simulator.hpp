// PTO-ISA's own CPU simulator, with its aborting checks turned into reports.
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

#include <pto/pto-inst.hpp>

// pto-inst.hpp defines both when neither is given; from here on the build's side decides.
#undef __DAV_CUBE__
#undef __DAV_VEC__
