// An ACL host program as one writes it for a card: allocate, copy, launch, time, copy back, compare. Only the launch
// differs: there is no `<<<>>>` here, so the kernel goes through aclsimLaunchKernel. Every error path that is taken says so.
#include <acl/acl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "aclsim.h"

namespace {

void expect(int line, const char *what, long long found, long long expected)
{
    if (found != expected) {
        const char *message = aclGetRecentErrMsg();
        std::printf("line %d: %s is %lld, expected %lld: %s\n", line, what, found, expected, message ? message : "");
        std::exit(1);
    }
}
#define EXPECT(what, expected) expect(__LINE__, #what, static_cast<long long>(what), static_cast<long long>(expected))

struct Add {
    float *z;
    const float *x;
    const float *y;
    size_t n;
};

int32_t add(void *arg, char *reason, size_t reason_size)
{
    const Add *add = static_cast<const Add *>(arg);
    const void *buffers[] = {add->z, add->x, add->y};
    for (const void *buffer : buffers) {
        if (!aclsimIsDeviceRange(buffer, add->n * sizeof(float))) {
            char text[160];
            aclsimDescribe(buffer, text, sizeof text);
            std::snprintf(reason, reason_size, "an argument is not device memory: it is %s", text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
    }
    for (size_t i = 0; i < add->n; ++i) {
        add->z[i] = add->x[i] + add->y[i];
    }
    return ACL_SUCCESS;
}

void drop(void *arg)
{
    delete static_cast<Add *>(arg);
}

aclError launch(aclrtStream stream, float *z, const float *x, const float *y, size_t n)
{
    return aclsimLaunchKernel(stream, "vector_add", add, drop, new Add{z, x, y, n});
}

float *device_floats(size_t n)
{
    void *pointer = nullptr;
    EXPECT(aclrtMalloc(&pointer, n * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    return static_cast<float *>(pointer);
}

} // namespace

int main()
{
    constexpr size_t n = 10007;
    constexpr size_t bytes = n * sizeof(float);
    EXPECT(aclInit(nullptr), ACL_SUCCESS);
    EXPECT(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtRunMode mode;
    EXPECT(aclrtGetRunMode(&mode), ACL_SUCCESS);
    EXPECT(mode, ACL_HOST);
    int32_t major = 0, minor = 0, patch = 0;
    EXPECT(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
    EXPECT(major, ACL_MAJOR_VERSION);
    EXPECT(minor, ACL_MINOR_VERSION);
    EXPECT(std::strcmp(aclrtGetSocName(), "Ascend910B2"), 0);

    aclrtStream stream = nullptr;
    aclrtEvent start = nullptr, end = nullptr;
    EXPECT(aclrtCreateStream(&stream), ACL_SUCCESS);
    EXPECT(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
    EXPECT(aclrtCreateEvent(&end), ACL_SUCCESS);

    std::vector<float> x(n), y(n), z(n, -1.0f);
    for (size_t i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = 0.5f * static_cast<float>(i);
    }
    float *dx = device_floats(n), *dy = device_floats(n), *dz = device_floats(n);
    EXPECT(aclrtMemcpy(dx, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT(aclrtMemcpyAsync(dy, bytes, y.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);

    EXPECT(aclrtRecordEvent(start, stream), ACL_SUCCESS);
    EXPECT(launch(stream, dz, dx, dy, n), ACL_SUCCESS);
    EXPECT(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    EXPECT(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    float ms = -1.0f;
    EXPECT(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
    EXPECT(ms >= 0.0f, true);
    aclrtEventRecordedStatus reached = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT(aclrtQueryEventStatus(end, &reached), ACL_SUCCESS);
    EXPECT(reached, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    EXPECT(status, ACL_STREAM_STATUS_COMPLETE);

    EXPECT(aclrtMemcpy(z.data(), bytes, dz, bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (size_t i = 0; i < n; ++i) {
        EXPECT(z[i] == x[i] + y[i], true);
    }

    // A host pointer where the device is meant: the copy refuses it, and so does the kernel.
    EXPECT(aclrtMemcpy(z.data(), bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(std::strstr(aclGetRecentErrMsg(), "`dst` must be device memory") != nullptr, true);
    EXPECT(launch(stream, dz, x.data(), dy, n), ACL_SUCCESS);
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT(std::strcmp(aclGetRecentErrMsg(), "an argument is not device memory: it is host memory"), 0);
    EXPECT(aclrtMemset(dz, bytes, 0, bytes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);

    EXPECT(aclrtFree(dx), ACL_SUCCESS);
    EXPECT(aclrtFree(dy), ACL_SUCCESS);
    EXPECT(aclrtFree(dz), ACL_SUCCESS);
    EXPECT(aclrtDestroyEvent(start), ACL_SUCCESS);
    EXPECT(aclrtDestroyEvent(end), ACL_SUCCESS);
    EXPECT(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT(aclFinalize(), ACL_SUCCESS);
    std::printf("vector_add: %zu elements are right\n", n);
    return 0;
}
