/*
 * The symbols of ptokit's libascendcl.so that ACL does not have. A kernel runtime for the CPU looks them up with
 * dlsym(RTLD_DEFAULT, ...): where they are missing, the device is a real one.
 */
#ifndef PTOKIT_ACLSIM_H
#define PTOKIT_ACLSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs a kernel to its end and returns an ACL error code, 0 for success. May write a NUL-terminated reason. Must not let
 * a C++ exception escape.
 */
typedef int32_t (*aclsimRun)(void *arg, char *reason, size_t reason_size);

typedef void (*aclsimDrop)(void *arg);

/*
 * Enqueues a kernel on a stream; NULL is the default stream of the current context. Returns an ACL error code.
 *
 * `run` is called once, on the stream's thread, with all device memory open for reading and writing. It is not called
 * when an earlier task of the stream failed. `drop(arg)`, if not NULL, is called once in any case, after `run`, also when
 * this function fails. `name` is copied.
 *
 * When `run` returns another code than 0, the stream is in error: its later tasks are skipped, synchronizing it returns
 * the code, and aclGetRecentErrMsg the reason. Threads of the kernel may then go on running: the device memory of that
 * moment stays open and mapped as long as the process lives.
 */
int32_t aclsimLaunchKernel(void *stream, const char *name, aclsimRun run, aclsimDrop drop, void *arg);

/* 1 when [p, p + bytes) lies inside one live device buffer, else 0. */
int32_t aclsimIsDeviceRange(const void *p, size_t bytes);

/*
 * Describes an address for people, as a NUL-terminated text that fits text_size: "host memory",
 * "64 bytes past the end of the 8192-byte device buffer #3", "freed device memory: byte 0 of the ... buffer #3".
 * Takes no lock: a signal handler may call it.
 */
void aclsimDescribe(const void *p, char *text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif
