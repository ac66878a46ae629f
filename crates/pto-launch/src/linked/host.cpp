// One launch of `@SYMBOL@`, written by ptokit to be linked with CANN's model. It is started as its worker is, with the
// directory of the launch as its second argument, and leaves there what the worker would: outputs, how far it came, and an
// answer, which counts only when it is whole.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

// Of ACL no more than this is needed, and its headers lie elsewhere in each release.
extern "C" {
int aclInit(const char *config);
int aclFinalize();
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
int aclrtCreateStream(void **stream);
int aclrtDestroyStream(void *stream);
int aclrtSynchronizeStreamWithTimeout(void *stream, int32_t milliseconds);
int aclrtMalloc(void **pointer, size_t size, int policy);
int aclrtFree(void *pointer);
int aclrtMemcpy(void *to, size_t room, const void *from, size_t count, int kind);

void @SYMBOL@(@PARAMETERS@);
}

namespace {

constexpr int HUGE_FIRST = 0, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2;
constexpr int SYNC_LIMIT_MS = @SYNC_LIMIT_MS@;

struct Buffer {
    int place; // among the launcher's arguments, which names its files
    size_t bytes;
    bool from_file, output;
    std::vector<unsigned char> pattern;
    void *device = nullptr;
};

std::vector<Buffer> buffers = {
@BUFFERS@};

std::string dir;

std::string in_dir(const std::string &name)
{
    return dir + "/" + name;
}

// Replaced in one step, so there is always one answer to how far this came.
void enter(const char *phase)
{
    const std::string next = in_dir("phase.next");
    unlink(next.c_str());
    if (symlink((std::string("0.") + phase).c_str(), next.c_str()) == 0) {
        rename(next.c_str(), in_dir("phase").c_str());
    }
}

void write(const std::string &name, const void *bytes, size_t count)
{
    FILE *file = fopen(in_dir(name).c_str(), "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        perror(name.c_str());
        _exit(1);
    }
}

void answer(const std::string &text)
{
    write("answer.partial", text.data(), text.size());
    rename(in_dir("answer.partial").c_str(), in_dir("answer.json").c_str());
}

[[noreturn]] void leave(const std::string &text)
{
    answer(text);
    _exit(0);
}

void set_up(const char *call, int code)
{
    if (code != 0) {
        leave(std::string(R"({"refused":{"setup":{"message":"`)") + call + "` failed with " + std::to_string(code) +
              R"(","hint":null}}})");
    }
}

void run(const char *call, int code)
{
    if (code != 0) {
        leave(std::string(R"({"launched":{"verdict":{"kind":"fault","call":")") + call + R"(","code":)" +
              std::to_string(code) + R"(,"name":"","message":""},"notes":[],"runs":[],"samples":[]}})");
    }
}

std::vector<unsigned char> contents(const Buffer &buffer)
{
    std::vector<unsigned char> bytes(buffer.bytes);
    if (buffer.from_file) {
        FILE *file = fopen(in_dir(std::to_string(buffer.place) + ".in").c_str(), "rb");
        if (!file || fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
            set_up("reading an input", -1);
        }
        fclose(file);
    } else {
        for (size_t at = 0; at < bytes.size(); ++at) {
            bytes[at] = buffer.pattern[at % buffer.pattern.size()];
        }
    }
    return bytes;
}

// Which libraries this process runs with.
void tell_maps()
{
    FILE *from = fopen("/proc/self/maps", "rb");
    std::string text;
    char piece[4096];
    for (size_t count; from && (count = fread(piece, 1, sizeof piece, from)) > 0;) {
        text.append(piece, count);
    }
    write("maps", text.data(), text.size());
}

template <typename Number> Number number(uint64_t bits)
{
    Number value;
    memcpy(&value, &bits, sizeof value); // the hosts that NPUs come with are little-endian
    return value;
}

} // namespace

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "error: this program is started by others, to run one kernel\n");
        return 2;
    }
    dir = words[2];
    setvbuf(stdout, nullptr, _IOLBF, 0);
    enter("Open");
    void *stream = nullptr;
    set_up("aclInit", aclInit(nullptr));
    set_up("aclrtSetDevice", aclrtSetDevice(0));
    set_up("aclrtCreateStream", aclrtCreateStream(&stream));
    tell_maps();
    enter("Upload");
    for (Buffer &buffer : buffers) {
        // ACL refuses to allocate nothing.
        set_up("aclrtMalloc", aclrtMalloc(&buffer.device, buffer.bytes ? buffer.bytes : 1, HUGE_FIRST));
        const auto bytes = contents(buffer);
        if (!bytes.empty()) {
            set_up("aclrtMemcpy", aclrtMemcpy(buffer.device, bytes.size(), bytes.data(), bytes.size(), HOST_TO_DEVICE));
        }
    }
    enter("Launch");
    const auto begin = std::chrono::steady_clock::now();
    @SYMBOL@(@ARGUMENTS@);
    const auto time = std::chrono::steady_clock::now() - begin;
    enter("Synchronize");
    run("aclrtSynchronizeStreamWithTimeout", aclrtSynchronizeStreamWithTimeout(stream, SYNC_LIMIT_MS));
    enter("Download");
    for (const Buffer &buffer : buffers) {
        std::vector<unsigned char> bytes(buffer.bytes);
        if (buffer.output && !bytes.empty()) {
            run("aclrtMemcpy", aclrtMemcpy(bytes.data(), bytes.size(), buffer.device, bytes.size(), DEVICE_TO_HOST));
        }
        if (buffer.output) {
            write("0." + std::to_string(buffer.place) + ".out", bytes.data(), bytes.size());
        }
    }
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    answer(std::string(R"({"launched":{"verdict":{"kind":"completed"},"notes":[],"runs":[{"variant":0,"call":{"secs":)") +
           std::to_string(nanoseconds / 1000000000) + R"(,"nanos":)" + std::to_string(nanoseconds % 1000000000) +
           R"(},"device_time":null}],"samples":[]}})");
    enter("Teardown");
    for (const Buffer &buffer : buffers) {
        aclrtFree(buffer.device);
    }
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
