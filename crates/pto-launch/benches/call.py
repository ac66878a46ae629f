"""The same launcher through ctypes, on the same libraries: nanoseconds of the call, one number per line."""

import ctypes
import sys
import time

acl_path, kernel_path, symbol, repeats = sys.argv[1:5]
repeats = int(repeats)

acl = ctypes.CDLL(acl_path, mode=ctypes.RTLD_GLOBAL)
kernel = ctypes.CDLL(kernel_path)


def check(code):
    if code != 0:
        sys.exit(f"ACL answers {code}")


def buffer():
    memory = ctypes.c_void_p()
    check(acl.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(4096), ctypes.c_int(0)))
    return memory.value


check(acl.aclInit(None))
check(acl.aclrtSetDevice(0))
stream = ctypes.c_void_p()
check(acl.aclrtCreateStream(ctypes.byref(stream)))

u32, pointer, f32, i64 = ctypes.c_uint32, ctypes.c_void_p, ctypes.c_float, ctypes.c_int64
launcher = getattr(kernel, symbol)
launcher.restype = None
# Declared once, and given plain numbers: the fastest way that ctypes has.
if symbol == "call_four":
    launcher.argtypes = [u32, pointer, pointer, u32]
    values = (8, stream.value, buffer(), 1024)
else:
    launcher.argtypes = [u32, pointer] + [pointer] * 6 + [u32, u32, f32, i64]
    values = (8, stream.value, *[buffer() for _ in range(6)], 1024, 512, 0.5, 4096)

now = time.perf_counter_ns
host = ctypes.create_string_buffer(4096)
size, to_device, to_host = ctypes.c_size_t(4096), ctypes.c_int(1), ctypes.c_int(2)
device = ctypes.c_void_p(values[2])
times = []
for _ in range(repeats):
    # A repeat as the worker does it: fill, call, synchronize, copy back.
    acl.aclrtMemcpy(device, size, host, size, to_device)
    begin = now()
    launcher(*values)
    times.append(now() - begin)
    acl.aclrtSynchronizeStream(stream)
    acl.aclrtMemcpy(host, size, device, size, to_host)
print("\n".join(map(str, times)))
