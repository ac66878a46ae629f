// What kernel sources expect of <acl/acl.h>. The functions themselves come from PTO-ISA's simulator headers; only the types
// that those lack stand here.
#pragma once
#include <stdint.h>
typedef int aclError;
typedef void *aclrtContext;
typedef void *aclrtEvent;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_ONLY = 1, ACL_MEM_MALLOC_NORMAL_ONLY = 2 };
