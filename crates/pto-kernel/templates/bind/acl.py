"""What is used of libascendcl, through ctypes: no compiler is needed for this."""

import ctypes
import os

from . import _spec

_HERE = os.path.dirname(os.path.abspath(__file__))
_HUGE_FIRST, _HOST_TO_DEVICE, _DEVICE_TO_HOST = 0, 1, 2
_ALREADY_INITIALIZED = 100002
_CUBE_CORES, _VECTOR_CORES = 102, 201

_library = None


def load():
    """The package's own library, which plays a device on the CPU; else CANN's. Global: a kernel's runtime looks for it."""
    global _library
    if _library is None:
        own = os.path.join(_HERE, "lib", "libascendcl.so")
        _library = ctypes.CDLL(own if os.path.exists(own) else "libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        _library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return _library


def call(name, *arguments):
    """Calls a function and raises what it reports."""
    code = getattr(load(), name)(*arguments)
    if code != 0 and not (name == "aclInit" and code == _ALREADY_INITIALIZED):
        message = (load().aclGetRecentErrMsg() or b"").decode(errors="replace")
        raise RuntimeError(f"{name} failed with {code}" + (f": {message}" if message else ""))


def kernel():
    """The kernel's launcher."""
    load()
    library = ctypes.CDLL(os.path.join(_HERE, "lib", _spec.LIBRARY))
    return getattr(library, _spec.SYMBOL)


def cores():
    """How many cores a launch is spread over: those of the card; on the CPU those that the kernel was built for."""
    if _spec.TARGET == "cpu":
        return _spec.CORES
    found = {}
    for name, attribute in (("cube_cores", _CUBE_CORES), ("vector_cores", _VECTOR_CORES)):
        value = ctypes.c_int64()
        try:
            call("aclrtGetDeviceInfo", ctypes.c_uint32(0), ctypes.c_int(attribute), ctypes.byref(value))
        except (AttributeError, RuntimeError):
            return _spec.CORES  # an older library cannot say
        found[name] = value.value
    return found


def empty(shape, dtype):
    """An array of NumPy; types that it lacks are those of `ml_dtypes`."""
    import numpy

    try:
        return numpy.empty(shape, numpy.dtype(dtype))
    except TypeError:
        import ml_dtypes

        return numpy.empty(shape, getattr(ml_dtypes, dtype))


class Device:
    """Device 0 with a stream of its own."""

    def __init__(self):
        call("aclInit", None)
        call("aclrtSetDevice", 0)
        self.stream = ctypes.c_void_p()
        call("aclrtCreateStream", ctypes.byref(self.stream))
        self._buffers = []

    def upload(self, array):
        """A copy of a contiguous array on the device."""
        pointer, size = ctypes.c_void_p(), ctypes.c_size_t(max(array.nbytes, 1))
        call("aclrtMalloc", ctypes.byref(pointer), size, _HUGE_FIRST)
        self._buffers.append(pointer)
        if array.nbytes:
            host = ctypes.c_void_p(array.__array_interface__["data"][0])
            call("aclrtMemcpy", pointer, size, host, size, _HOST_TO_DEVICE)
        return pointer

    def download(self, pointer, array):
        """Copies back into a contiguous array."""
        if array.nbytes:
            host, size = ctypes.c_void_p(array.__array_interface__["data"][0]), ctypes.c_size_t(array.nbytes)
            call("aclrtMemcpy", host, size, pointer, size, _DEVICE_TO_HOST)

    def synchronize(self):
        call("aclrtSynchronizeStream", self.stream)

    def release(self):
        """Frees the buffers."""
        for pointer in self._buffers:
            call("aclrtFree", pointer)
        self._buffers.clear()
