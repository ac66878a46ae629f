// The launcher of kernel @NAME@ as a Python function. Written by `kernel bind` from its kernel.toml.
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace py = pybind11;

extern "C" {
// What is used of ACL.
int aclInit(const char *config);
int aclrtSetDevice(int device);
int aclrtCreateStream(void **stream);
int aclrtSynchronizeStream(void *stream);
int aclrtMalloc(void **pointer, std::size_t size, int policy);
int aclrtFree(void *pointer);
int aclrtMemcpy(void *to, std::size_t room, const void *from, std::size_t size, int kind);
const char *aclGetRecentErrMsg();

// The launcher.
@DECLARATION@
}

namespace {

constexpr int kHugeFirst = 0, kHostToDevice = 1, kDeviceToHost = 2, kAlreadyInitialized = 100002;

void check(const char *what, int code)
{
    if (code == 0) return;
    const char *message = aclGetRecentErrMsg();
    throw std::runtime_error(std::string(what) + " failed with " + std::to_string(code) + (message ? std::string(": ") + message : ""));
}

// What the manifest says of a tensor.
struct Spec {
    const char *name;
    const char *dtype;
    std::size_t size;
    int rank;
    bool written;
};

// A tensor of one call. One on the device is used where it is; one in host memory has a copy there for the time of the call.
struct Tensor {
    void *device = nullptr;
    void *host = nullptr;
    std::size_t bytes = 0;
    bool written = false;
};

[[noreturn]] void refuse(const Spec &spec, const std::string &problem)
{
    throw py::type_error(std::string("`") + spec.name + "` " + problem);
}

void check_rank(const Spec &spec, std::size_t rank)
{
    if (rank == static_cast<std::size_t>(spec.rank)) return;
    refuse(spec, "has " + std::to_string(rank) + " dimensions, expected " + std::to_string(spec.rank));
}

// `torch.float16` and `float16` are the same.
void check_dtype(const Spec &spec, const py::object &tensor)
{
    std::string dtype = py::str(tensor.attr("dtype"));
    if (dtype.rfind("torch.", 0) == 0) dtype.erase(0, 6);
    if (dtype != spec.dtype) refuse(spec, "is " + dtype + ", expected " + spec.dtype);
}

Tensor on_the_device(const Spec &spec, const py::object &tensor)
{
    if (!tensor.attr("is_contiguous")().cast<bool>()) refuse(spec, "is not contiguous");
    check_rank(spec, tensor.attr("dim")().cast<std::size_t>());
    if (std::string(py::str(tensor.attr("device").attr("type"))) == "cpu")
        refuse(spec, "is on the CPU; move it with .npu(), or pass a NumPy array");
    Tensor made;
    made.device = reinterpret_cast<void *>(tensor.attr("data_ptr")().cast<std::uintptr_t>());
    return made;
}

Tensor in_host_memory(const Spec &spec, const py::object &tensor)
{
    const py::dict array = tensor.attr("__array_interface__");
    const py::tuple shape = array["shape"], data = array["data"];
    if (array.contains("strides") && !py::object(array["strides"]).is_none()) refuse(spec, "is not contiguous");
    check_rank(spec, shape.size());
    if (spec.written && data[1].cast<bool>()) refuse(spec, "is read-only, and the kernel writes it");
    Tensor made;
    made.host = reinterpret_cast<void *>(data[0].cast<std::uintptr_t>());
    made.bytes = spec.size;
    for (const py::handle &extent : shape) made.bytes *= extent.cast<std::size_t>();
    made.written = spec.written;
    return made;
}

Tensor tensor_of(const Spec &spec, const py::object &tensor)
{
    const bool device = py::hasattr(tensor, "data_ptr");
    if (!device && !py::hasattr(tensor, "__array_interface__")) refuse(spec, "is neither a NumPy array nor a tensor of torch");
    check_dtype(spec, tensor);
    return device ? on_the_device(spec, tensor) : in_host_memory(spec, tensor);
}

// The stream of calls that bring none. Made once: asking for one is not free.
void *own_stream()
{
    static void *const stream = [] {
        const int code = aclInit(nullptr);
        if (code != kAlreadyInitialized) check("aclInit", code);
        check("aclrtSetDevice", aclrtSetDevice(0));
        void *made = nullptr;
        check("aclrtCreateStream", aclrtCreateStream(&made));
        return made;
    }();
    check("aclrtSetDevice", aclrtSetDevice(0)); // of this thread
    return stream;
}

// Copies of host memory, freed however the call ends.
class Copies {
public:
    explicit Copies(std::vector<Tensor> &tensors) : tensors_(tensors)
    {
        for (Tensor &tensor : tensors_) {
            if (tensor.host == nullptr) continue;
            any = true;
            check("aclrtMalloc", aclrtMalloc(&tensor.device, tensor.bytes > 0 ? tensor.bytes : 1, kHugeFirst));
            if (tensor.bytes > 0) check("aclrtMemcpy", aclrtMemcpy(tensor.device, tensor.bytes, tensor.host, tensor.bytes, kHostToDevice));
        }
    }

    void bring_back()
    {
        for (const Tensor &tensor : tensors_)
            if (tensor.host != nullptr && tensor.written && tensor.bytes > 0)
                check("aclrtMemcpy", aclrtMemcpy(tensor.host, tensor.bytes, tensor.device, tensor.bytes, kDeviceToHost));
    }

    ~Copies()
    {
        for (const Tensor &tensor : tensors_)
            if (tensor.host != nullptr && tensor.device != nullptr) aclrtFree(tensor.device);
    }

    Copies(const Copies &) = delete;
    Copies &operator=(const Copies &) = delete;

    bool any = false;

private:
    std::vector<Tensor> &tensors_;
};

// Launches. With tensors on the device it returns as soon as the kernel is enqueued, like any other operation of a stream;
// with host memory it waits and copies back. Python runs on meanwhile.
template <class Launch>
void run(std::uintptr_t given, std::vector<Tensor> &tensors, Launch launch)
{
    py::gil_scoped_release released;
    void *stream = given != 0 ? reinterpret_cast<void *>(given) : own_stream();
    Copies copies(tensors);
    launch(stream);
    if (!copies.any && given != 0) return;
    check("the kernel", aclrtSynchronizeStream(stream));
    copies.bring_back();
}

void launch(std::uintptr_t stream@PARAMETERS@)
{
    std::vector<Tensor> tensors{
@TENSORS@    };
    run(stream, tensors, [&](void *stream) { @SYMBOL@(@CALL@); });
}

} // namespace

PYBIND11_MODULE(_@NAME@, module)
{
    module.doc() = "The launcher of kernel @NAME@, as it is; the package around it computes what can be computed";
    module.def("launch", &launch, py::arg("stream")@ARGUMENTS@);
}
