/* A libascendcl as an old runtime has it: only the functions that cannot be done without, and the stream query. Its one
 * stream is done after DONE_AFTER queries. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DONE_AFTER 5

static int queries;
static int place;

static int give(void **out)
{
    *out = &place;
    return 0;
}

int aclInit(const char *path) { (void)path; return 0; }
int aclFinalize(void) { return 0; }
const char *aclGetRecentErrMsg(void) { return NULL; }
int aclrtGetDeviceCount(uint32_t *count) { *count = 1; return 0; }
int aclrtSetDevice(int32_t device) { return device == 0 ? 0 : 4711; }
int aclrtResetDevice(int32_t device) { (void)device; return 0; }
int aclrtGetCurrentContext(void **context) { return give(context); }
int aclrtSetCurrentContext(void *context) { (void)context; return 0; }
int aclrtSynchronizeDevice(void) { return 0; }
int aclrtCreateStream(void **stream) { return give(stream); }
int aclrtDestroyStream(void *stream) { (void)stream; return 0; }
int aclrtSynchronizeStream(void *stream) { (void)stream; return 0; }
int aclrtStreamWaitEvent(void *stream, void *event) { (void)stream; (void)event; return 0; }
int aclrtCreateEvent(void **event) { return give(event); }
int aclrtDestroyEvent(void *event) { (void)event; return 0; }
int aclrtRecordEvent(void *event, void *stream) { (void)event; (void)stream; return 0; }
int aclrtSynchronizeEvent(void *event) { (void)event; return 0; }
int aclrtEventElapsedTime(float *ms, void *start, void *end) { (void)start; (void)end; *ms = 1.5f; return 0; }
int aclrtMalloc(void **pointer, size_t size, int policy) { (void)policy; *pointer = malloc(size); return 0; }
int aclrtFree(void *pointer) { free(pointer); return 0; }
int aclrtMallocHost(void **pointer, size_t size) { *pointer = malloc(size); return 0; }
int aclrtFreeHost(void *pointer) { free(pointer); return 0; }
int aclrtMemcpy(void *dst, size_t max, const void *src, size_t count, int kind)
{
    (void)max;
    (void)kind;
    memcpy(dst, src, count);
    return 0;
}
int aclrtMemcpyAsync(void *dst, size_t max, const void *src, size_t count, int kind, void *stream)
{
    (void)stream;
    return aclrtMemcpy(dst, max, src, count, kind);
}
int aclrtMemset(void *pointer, size_t max, int32_t value, size_t count)
{
    (void)max;
    memset(pointer, value, count);
    return 0;
}
int aclrtMemsetAsync(void *pointer, size_t max, int32_t value, size_t count, void *stream)
{
    (void)stream;
    return aclrtMemset(pointer, max, value, count);
}
int aclrtGetMemInfo(int attr, size_t *free_bytes, size_t *total)
{
    (void)attr;
    *free_bytes = 1;
    *total = 2;
    return 0;
}
int aclrtStreamQuery(void *stream, int *status)
{
    (void)stream;
    *status = ++queries <= DONE_AFTER;
    return 0;
}
