// The runtime that plays the NPU's cores: one thread per core, counting cross-core flags, exact deadlock detection.
//
// It knows nothing of PTO-ISA. A fault never unwinds kernel code: the faulting core records its verdict and sleeps for
// good, the launch returns, and the process that ran it is expected to end soon.
#include "ptocpu.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

// ACL codes of the faults, as a device reports them (rt_error_codes.h).
constexpr int32_t kParamInvalid = 107000;
constexpr int32_t kCubeTimeout = 507014;
constexpr int32_t kCubeException = 507015;
constexpr int32_t kVectorTimeout = 507034;
constexpr int32_t kVectorException = 507035;

constexpr int kFlags = 16;   // flag ids of one core
constexpr int kPipes = 16;   // more than PTO-ISA names
constexpr int kEvents = 8;   // event ids per pair of pipes

struct Site {
    ptocpu_trampoline run[2] = {nullptr, nullptr};
};

struct Warning {
    std::string text, file;
    int line;
    uint64_t count;
};

struct Launch;

struct Core {
    Launch *launch;
    ptocpu_core place;
    int side;
    uint32_t flags[2 * kFlags] = {};    // A2/A3 flags 0-15; A5 flags of a cube core 0-31
    uint32_t arrivals[kFlags] = {};     // sets not yet matched by this core's peers (modes 0 and 1, and vector to cube)
    int32_t pipe[kPipes][kPipes][kEvents] = {};
    char *ub = nullptr, *l1 = nullptr;
    std::function<bool()> ready;        // what the core waits for; empty while it runs
    std::string waits_for;              // the same in words

    std::string name() const
    {
        std::string text = side == PTOCPU_CUBE ? "cube core " : "vector core ";
        text += std::to_string(place.block);
        if (place.sub_dim > 1) text += "." + std::to_string(place.sub);
        return text;
    }
};

// Cores that come together, again and again.
struct Meeting {
    uint32_t arrived = 0, round = 0;
};

struct Launch {
    std::string key, where;
    uint32_t blocks = 0;
    void *args = nullptr;
    void (*drop)(void *) = nullptr;
    std::vector<std::string> foreign;   // pointer arguments that are no device memory
    std::vector<std::unique_ptr<Core>> cores;
    bool mix = false;
    std::map<std::pair<int, const void *>, Meeting> meetings;
    std::map<std::pair<uint32_t, std::string>, std::unique_ptr<char[], void (*)(void *)>> storage;  // by block and key

    std::mutex mutex;
    std::condition_variable changed;
    size_t running = 0;                 // cores neither finished nor waiting
    size_t unfinished = 0;
    int32_t fault_code = 0;
    std::string fault;
};

std::mutex g_mutex;
std::map<std::string, Site> &sites()
{
    static auto *all = new std::map<std::string, Site>;  // never destroyed: libraries unregister nothing
    return *all;
}
std::map<std::tuple<std::string, std::string, int>, Warning> &warnings()
{
    static auto *all = new std::map<std::tuple<std::string, std::string, int>, Warning>;
    return *all;
}

thread_local Core *t_core = nullptr;

[[noreturn]] void sleep_for_good()
{
    for (;;) pause();
}

// With the launch's mutex held.
void set_fault(Launch &launch, int32_t code, std::string reason)
{
    if (launch.fault_code == 0) {
        launch.fault_code = code;
        launch.fault = std::move(reason);
    }
    launch.changed.notify_all();
}

[[noreturn]] void fault_here(int32_t code, const std::string &reason)
{
    if (t_core == nullptr) {
        std::fprintf(stderr, "ptocpu: %s\n", reason.c_str());
        std::abort();
    }
    {
        std::lock_guard lock(t_core->launch->mutex);
        set_fault(*t_core->launch, code, reason);
    }
    sleep_for_good();
}

// A core is about to wait and no core runs any more: nobody is left who could set a flag.
void check_deadlock(Launch &launch)
{
    if (launch.running > 0 || launch.unfinished == 0 || launch.fault_code != 0) return;
    const Core *first = nullptr;
    size_t waiting = 0;
    for (const auto &core : launch.cores)
        if (core->ready) {
            waiting++;
            if (first == nullptr) first = core.get();
        }
    if (first == nullptr) return;
    std::string text = "deadlock: " + first->name() + " waits for " + first->waits_for;
    if (waiting > 1) text += ", and " + std::to_string(waiting - 1) + " more core" + (waiting > 2 ? "s wait" : " waits");
    set_fault(launch, first->side == PTOCPU_CUBE ? kCubeTimeout : kVectorTimeout, text);
}

// State that others wait for has changed, with the mutex held. A waiter that can go on counts as running from now on, not
// from when its thread wakes: else the deadlock check would see nobody run.
void settle(Launch &launch)
{
    for (auto &core : launch.cores)
        if (core->ready && core->ready()) {
            core->ready = nullptr;
            launch.running++;
        }
    launch.changed.notify_all();
}

// Blocks the core until `ready()`, which is called with the mutex held. Returns with the mutex held.
std::unique_lock<std::mutex> block_until(Core &core, std::string what, std::function<bool()> ready)
{
    Launch &launch = *core.launch;
    std::unique_lock lock(launch.mutex);
    if (ready()) return lock;
    core.ready = std::move(ready);
    core.waits_for = std::move(what);
    launch.running--;
    check_deadlock(launch);
    launch.changed.wait(lock, [&] { return !core.ready || launch.fault_code != 0; });
    if (launch.fault_code != 0) {
        lock.unlock();
        sleep_for_good();
    }
    return lock;
}

Core *peer(Core &core, int side, uint32_t sub)
{
    for (auto &other : core.launch->cores)
        if (other->side == side && other->place.block == core.place.block && other->place.sub == sub) return other.get();
    return nullptr;
}

Core &current(const char *call)
{
    if (t_core == nullptr) {
        std::fprintf(stderr, "ptocpu: `%s` outside of a kernel\n", call);
        std::abort();
    }
    return *t_core;
}

void add(Core &owner, uint32_t flag)
{
    owner.flags[flag]++;
    settle(*owner.launch);
}

void take_flag(Core &core, uint32_t flag)
{
    const auto lock = block_until(core, "flag " + std::to_string(flag), [&core, flag] { return core.flags[flag] > 0; });
    core.flags[flag]--;
}

// The set of a core whose partners have to arrive too: when every member has, each receiver gets one.
void arrive(Core &core, uint32_t flag, const std::vector<Core *> &members, const std::vector<Core *> &receivers)
{
    core.arrivals[flag]++;
    for (Core *member : members)
        if (member->arrivals[flag] == 0) return;
    for (Core *member : members) member->arrivals[flag]--;
    for (Core *receiver : receivers) add(*receiver, flag);
}

std::vector<Core *> vectors_of(Core &core)
{
    std::vector<Core *> found;
    for (uint32_t sub = 0; sub < 2; sub++)
        if (Core *other = peer(core, PTOCPU_VECTOR, sub)) found.push_back(other);
    return found;
}

std::vector<Core *> all_of(Core &core, int kind)
{
    std::vector<Core *> found;
    for (auto &other : core.launch->cores)
        if (kind == 2 || other->side == kind) found.push_back(other.get());
    return found;
}

// Waits until `members` cores have come; 0 is never.
void meet(Core &core, std::pair<int, const void *> which, size_t members, const std::string &what)
{
    Launch &launch = *core.launch;
    uint32_t round;
    {
        std::lock_guard lock(launch.mutex);
        Meeting &meeting = launch.meetings[which];
        round = meeting.round;
        if (++meeting.arrived == members) {
            meeting.arrived = 0;
            meeting.round++;
            settle(launch);
            return;
        }
    }
    block_until(core, what, [&launch, which, round] { return launch.meetings[which].round != round; });
}

void count_warning(const std::string &text, const char *file, int line)
{
    std::lock_guard lock(g_mutex);
    auto [at, fresh] = warnings().try_emplace({text, file, line}, Warning{text, file, line, 0});
    at->second.count++;
}

const char *pipe_name(int pipe)
{
    // PTO-ISA's CPU simulator numbers them so (cpu_stub.hpp).
    static const char *const names[] = {"S", "V", "MTE1", "MTE2", "MTE3", "M", "ALL", "FIX"};
    return pipe >= 0 && pipe < 8 ? names[pipe] : "?";
}

// After a core has run: flags between its pipes that do not pair up.
void check_pipes(Core &core)
{
    for (int source = 0; source < kPipes; source++)
        for (int destination = 0; destination < kPipes; destination++)
            for (int event = 0; event < kEvents; event++) {
                const int32_t left = core.pipe[source][destination][event];
                if (left == 0) continue;
                const std::string flag = "event " + std::to_string(event) + " from PIPE_" + pipe_name(source) +
                                         " to PIPE_" + pipe_name(destination);
                if (left < 0) {
                    fault_here(core.side == PTOCPU_CUBE ? kCubeTimeout : kVectorTimeout,
                               "deadlock: " + core.name() + " waits for " + flag + ", which is never set (" +
                                   std::to_string(-left) + " more wait_flag than set_flag)");
                }
                count_warning("flag left set at the end of the kernel: " + flag, core.launch->where.c_str(), 0);
            }
}

void run_core(Core *core, ptocpu_trampoline run)
{
    t_core = core;
    Launch &launch = *core->launch;
    try {
        run(launch.args, &core->place);
    } catch (const std::exception &error) {
        fault_here(core->side == PTOCPU_CUBE ? kCubeException : kVectorException,
                   core->name() + ": exception: " + error.what());
    } catch (...) {
        fault_here(core->side == PTOCPU_CUBE ? kCubeException : kVectorException, core->name() + ": unknown exception");
    }
    check_pipes(*core);
    std::lock_guard lock(launch.mutex);
    launch.running--;
    launch.unfinished--;
    check_deadlock(launch);
    launch.changed.notify_all();
}

void add_core(Launch &launch, int side, uint32_t block, uint32_t sub, uint32_t sub_dim)
{
    auto core = std::make_unique<Core>();
    core->launch = &launch;
    core->side = side;
    core->place = {block, sub, sub_dim, launch.blocks};
    launch.cores.push_back(std::move(core));
}

void report_leftovers(Launch &launch)
{
    for (const auto &core : launch.cores)
        for (int flag = 0; flag < 2 * kFlags; flag++)
            if (core->flags[flag] != 0 || (flag < kFlags && core->arrivals[flag] != 0))
                count_warning("cross-core flag " + std::to_string(flag) + " left set at the end of the kernel on a " +
                                  (core->side == PTOCPU_CUBE ? "cube core" : "vector core"),
                              launch.where.c_str(), 0);
}

int32_t run_launch(Launch &launch)
{
    for (const auto &argument : launch.foreign) {
        launch.fault = argument;
        return kParamInvalid;
    }
    Site site;
    {
        std::lock_guard lock(g_mutex);
        site = sites()[launch.key];
    }
    launch.mix = site.run[0] != nullptr && site.run[1] != nullptr;
    for (uint32_t block = 0; block < launch.blocks; block++) {
        if (site.run[PTOCPU_CUBE]) add_core(launch, PTOCPU_CUBE, block, 0, 1);
        if (site.run[PTOCPU_VECTOR])
            for (uint32_t sub = 0; sub < (launch.mix ? 2u : 1u); sub++)
                add_core(launch, PTOCPU_VECTOR, block, sub, launch.mix ? 2 : 1);
    }
    launch.running = launch.unfinished = launch.cores.size();
    std::vector<std::thread> threads;
    for (auto &core : launch.cores) threads.emplace_back(run_core, core.get(), site.run[core->side]);
    {
        std::unique_lock lock(launch.mutex);
        launch.changed.wait(lock, [&] { return launch.unfinished == 0 || launch.fault_code != 0; });
    }
    const bool faulted = launch.fault_code != 0;
    for (auto &thread : threads) faulted ? thread.detach() : thread.join();
    if (!faulted) report_leftovers(launch);
    return launch.fault_code;
}

int32_t launch_entry(void *arg, char *reason, size_t reason_size)
{
    auto *launch = static_cast<Launch *>(arg);
    const int32_t code = run_launch(*launch);
    if (code != 0 && reason_size > 0) std::snprintf(reason, reason_size, "%s (launched at %s)", launch->fault.c_str(), launch->where.c_str());
    return code;
}

void launch_drop(void *arg)
{
    auto *launch = static_cast<Launch *>(arg);
    // Cores of a faulted launch sleep for good and still refer to it.
    if (launch->fault_code != 0) return;
    launch->drop(launch->args);
    delete launch;
}

using EnqueueFn = int32_t (*)(void *, const char *, int32_t (*)(void *, char *, size_t), void (*)(void *), void *);
using IsDeviceFn = int32_t (*)(const void *, size_t);
using DescribeFn = void (*)(const void *, char *, size_t);

// The simulator's own entry points, when this process has the host ACL library.
template <typename Fn>
Fn host_acl(const char *name)
{
    return reinterpret_cast<Fn>(dlsym(RTLD_DEFAULT, name));
}

std::string json_string(const std::string &text)
{
    std::string out = "\"";
    for (unsigned char c : text) {
        char buffer[8];
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < 0x20) {
            std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
            out += buffer;
        } else {
            out += static_cast<char>(c);
        }
    }
    return out + "\"";
}

}  // namespace

extern "C" {

void ptocpu_register(const char *key, int side, ptocpu_trampoline run)
{
    std::lock_guard lock(g_mutex);
    sites()[key].run[side] = run;
}

void ptocpu_launch(const char *key, const char *where, uint32_t blocks, void *stream, void *args, void (*drop)(void *),
                   const void *const *pointers, size_t pointer_count)
{
    auto *launch = new Launch;
    launch->key = key;
    launch->where = where;
    launch->blocks = blocks;
    launch->args = args;
    launch->drop = drop;
    if (auto is_device = host_acl<IsDeviceFn>("aclsimIsDeviceRange"))
        for (size_t i = 0; i < pointer_count; i++) {
            if (pointers[i] == nullptr || is_device(pointers[i], 1)) continue;
            char what[160] = "host memory";
            if (auto describe = host_acl<DescribeFn>("aclsimDescribe")) describe(pointers[i], what, sizeof what);
            launch->foreign.push_back("pointer argument " + std::to_string(i + 1) + " of the kernel is not device memory: " + what);
        }
    if (auto enqueue = host_acl<EnqueueFn>("aclsimLaunchKernel")) {
        const int32_t code = enqueue(stream, where, launch_entry, launch_drop, launch);
        if (code != 0) std::fprintf(stderr, "ptocpu: the launch at %s was refused with %d\n", where, code);
        return;
    }
    // No host ACL library: run now, as a plain function call would.
    char reason[512];
    if (launch_entry(launch, reason, sizeof reason) != 0) {
        std::fprintf(stderr, "ptocpu: %s\n", reason);
        std::abort();
    }
    launch_drop(launch);
}

void ptocpu_load_sibling(const void *anchor, const char *file_name)
{
    Dl_info info;
    if (dladdr(anchor, &info) == 0 || info.dli_fname == nullptr) return;
    std::string path = info.dli_fname;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    path += file_name;
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
        std::fprintf(stderr, "ptocpu: the other side of a mix kernel does not load: %s\n", dlerror());
        std::abort();
    }
}

void ptocpu_ffts_set(uint64_t message)
{
    Core &core = current("ffts_cross_core_sync");
    const uint32_t mode = (message >> 4) & 3, flag = (message >> 8) & 15;
    std::lock_guard lock(core.launch->mutex);
    if (mode == 0) {
        const auto all = all_of(core, core.side);
        arrive(core, flag, all, all);
    } else if (mode == 1) {
        const auto pair = vectors_of(core);
        arrive(core, flag, pair, pair);
    } else if (core.side == PTOCPU_CUBE) {
        for (Core *vector : vectors_of(core)) add(*vector, flag);
    } else {
        std::vector<Core *> receivers;
        if (Core *cube = peer(core, PTOCPU_CUBE, 0)) receivers.push_back(cube);
        arrive(core, flag, vectors_of(core), receivers);
    }
}

void ptocpu_ffts_wait(uint32_t flag)
{
    take_flag(current("wait_flag_dev"), flag % kFlags);
}

void ptocpu_intra_set(uint32_t flag)
{
    Core &core = current("set_intra_block");
    std::lock_guard lock(core.launch->mutex);
    if (core.side == PTOCPU_CUBE) {
        if (Core *vector = peer(core, PTOCPU_VECTOR, flag >= kFlags ? 1 : 0)) add(*vector, flag % kFlags);
    } else if (Core *cube = peer(core, PTOCPU_CUBE, 0)) {
        add(*cube, flag % kFlags + (core.place.sub == 1 ? kFlags : 0));
    }
}

void ptocpu_intra_wait(uint32_t flag)
{
    Core &core = current("wait_intra_block");
    take_flag(core, core.side == PTOCPU_CUBE ? flag % (2 * kFlags) : flag % kFlags);
}

void ptocpu_sync_all(int kind)
{
    Core &core = current("SYNCALL");
    // On the device a core that waits for cores of both kinds waits for ever when the other kind is not there.
    const bool alone = kind == 2 && !core.launch->mix;
    meet(core, {kind, nullptr}, alone ? 0 : all_of(core, kind).size(), alone ? "SYNCALL with the other kind of core" : "SYNCALL");
}

void ptocpu_sync_some(const void *counter, uint32_t members)
{
    meet(current("SYNCALL"), {3, counter}, members, "SYNCALL of " + std::to_string(members) + " cores");
}

void *ptocpu_block_storage(const char *key, size_t size)
{
    Core &core = current("block_storage");
    std::lock_guard lock(core.launch->mutex);
    auto [at, fresh] = core.launch->storage.try_emplace({core.place.block, key}, nullptr, std::free);
    if (fresh) {
        constexpr size_t alignment = 64;
        const size_t rounded = (size + alignment - 1) / alignment * alignment;
        at->second.reset(static_cast<char *>(std::aligned_alloc(alignment, rounded)));
        std::memset(at->second.get(), 0, rounded);
    }
    return at->second.get();
}

uint64_t ptocpu_condition_changes(const uint64_t *counter)
{
    std::lock_guard lock(current("TPUSH/TPOP").launch->mutex);
    return *counter;
}

void ptocpu_condition_change(uint64_t *counter)
{
    Launch &launch = *current("TPUSH/TPOP").launch;
    std::lock_guard lock(launch.mutex);
    ++*counter;
    settle(launch);
}

void ptocpu_condition_wait(const uint64_t *counter, uint64_t seen, const char *what)
{
    block_until(current("TPUSH/TPOP"), what, [counter, seen] { return *counter != seen; });
}

void ptocpu_pipe_set(int source, int destination, int event)
{
    if (t_core) t_core->pipe[source & (kPipes - 1)][destination & (kPipes - 1)][event & (kEvents - 1)]++;
}

void ptocpu_pipe_wait(int source, int destination, int event)
{
    if (t_core) t_core->pipe[source & (kPipes - 1)][destination & (kPipes - 1)][event & (kEvents - 1)]--;
}

void ptocpu_publish(void *ub, void *l1)
{
    Core &core = current("publish");
    std::lock_guard lock(core.launch->mutex);
    core.ub = static_cast<char *>(ub);
    core.l1 = static_cast<char *>(l1);
    settle(*core.launch);
}

void *ptocpu_peer_ub(uint32_t sub)
{
    Core &core = current("peer_ub");
    Core *other = peer(core, PTOCPU_VECTOR, sub);
    if (other == nullptr) fault_here(kCubeException, core.name() + ": no vector core " + std::to_string(sub) + " in this block (is the kernel built as mix?)");
    const auto lock = block_until(core, "vector core " + std::to_string(sub) + " to start", [other] { return other->ub != nullptr; });
    return other->ub;
}

void *ptocpu_peer_l1(void)
{
    Core &core = current("peer_l1");
    Core *other = peer(core, PTOCPU_CUBE, 0);
    if (other == nullptr) fault_here(kVectorException, core.name() + ": no cube core in this block (is the kernel built as mix?)");
    const auto lock = block_until(core, "the cube core to start", [other] { return other->l1 != nullptr; });
    return other->l1;
}

void ptocpu_fault(int32_t code, const char *reason)
{
    if (t_core && code == 0) code = t_core->side == PTOCPU_CUBE ? kCubeException : kVectorException;
    fault_here(code, (t_core ? t_core->name() + ": " : std::string()) + reason);
}

void ptocpu_violation(const char *condition, const char *file, int line)
{
    const bool simulator = std::strstr(file, "/pto/") != nullptr;
    const bool bounds = std::strstr(file, "NPUMemoryModel") != nullptr;
    if (simulator && !bounds) {
        count_warning(std::string("simulator condition not met: ") + condition, file, line);
        return;
    }
    std::string text = bounds ? "out of bounds of on-chip memory" : "assertion failed";
    text += std::string(": `") + condition + "` (" + file + ":" + std::to_string(line) + ")";
    ptocpu_fault(0, text.c_str());
}

void ptocpu_warn(const char *text, const char *file, int line)
{
    count_warning(text, file, line);
}

size_t ptocpu_report(char *text, size_t size)
{
    std::lock_guard lock(g_mutex);
    std::string out = "[";
    for (const auto &[key, warning] : warnings()) {
        if (out.size() > 1) out += ",";
        out += "{\"text\":" + json_string(warning.text) + ",\"file\":" + json_string(warning.file) +
               ",\"line\":" + std::to_string(warning.line) + ",\"count\":" + std::to_string(warning.count) + "}";
    }
    out += "]";
    if (size > 0) {
        const size_t written = std::min(size - 1, out.size());
        std::memcpy(text, out.data(), written);
        text[written] = 0;
    }
    return out.size();
}
}
