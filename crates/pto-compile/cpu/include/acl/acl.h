// What kernel sources expect of <acl/acl.h>. The functions themselves come from PTO-ISA's simulator headers; only what those
// lack stands here.
#pragma once
#include <stdint.h>
typedef int aclError;
typedef void *aclrtContext;
typedef void *aclrtEvent;
enum { ACL_MEM_MALLOC_HUGE_ONLY = 1, ACL_MEM_MALLOC_NORMAL_ONLY = 2 };
#ifdef __cplusplus
// A type of its own that converts from and to a number, as the simulator's aclrtMalloc takes one; its unscoped names can be
// written with and without the type, like those of the real enumeration.
struct aclrtMemMallocPolicy {
    enum Value { ACL_MEM_MALLOC_HUGE_FIRST = 0, ACL_MEM_MALLOC_HUGE_ONLY = 1, ACL_MEM_MALLOC_NORMAL_ONLY = 2 };
    int value;
    constexpr aclrtMemMallocPolicy(int value) : value(value) {}
    constexpr operator int() const { return value; }
};
#endif
