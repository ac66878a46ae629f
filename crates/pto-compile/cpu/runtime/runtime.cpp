// The runtime that plays the NPU's cores: one thread per core, counting cross-core flags, exact deadlock detection. This
// file is its C interface; what is behind it lies in the headers, in one translation unit.
//
// It knows nothing of PTO-ISA. The process that ran a faulted launch is expected to end soon.
#include "run.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace {

using EnqueueFn = int32_t (*)(void *, const char *, int32_t (*)(void *, char *, size_t), void (*)(void *), void *);
using IsDeviceFn = int32_t (*)(const void *, size_t);
using DescribeFn = void (*)(const void *, char *, size_t);

// The simulator's own entry points, when this process has the host ACL library.
template <typename Fn>
Fn host_acl(const char *name)
{
    return reinterpret_cast<Fn>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

extern "C" {

void ptocpu_register(const ptocpu_site *site, int side, ptocpu_trampoline run)
{
    std::lock_guard lock(g_mutex);
    sites()[key_of(*site)].run[side] = run;
}

void ptocpu_launch(const ptocpu_site *site, uint32_t blocks, void *stream, void *args, void (*drop)(void *),
                   const void *const *pointers, size_t pointer_count)
{
    const char *where = site->where;
    auto *launch = new Launch;
    launch->site = key_of(*site);
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

void ptocpu_publish(void *const bases[PTOCPU_MEMORIES], const size_t sizes[PTOCPU_MEMORIES])
{
    for (int i = 0; i < PTOCPU_MEMORIES; i++) {
        std::memset(bases[i], kPoison, sizes[i]);
        t_memories[i] = {static_cast<char *>(bases[i]), sizes[i]};
    }
    if (t_core == nullptr) return;
    std::lock_guard lock(t_core->launch->mutex);
    t_core->ub = t_memories[PTOCPU_UB].base;
    t_core->l1 = t_memories[PTOCPU_L1].base;
    settle(*t_core->launch);
}

void *ptocpu_place(ptocpu_memory memory, uintptr_t at, size_t bytes)
{
    const Memory *in = &t_memories[memory];
    if (in->base == nullptr) return nullptr;
    size_t offset = at;
    // Code that an assembler made may name the address of a tile that lies on the chip already.
    for (const Memory &each : t_memories)
        if (const uintptr_t base = reinterpret_cast<uintptr_t>(each.base); at >= base && at - base < each.size) {
            in = &each;
            offset = at - base;
        }
    if (offset <= in->size && bytes <= in->size - offset) return in->base + offset;
    const std::string text = "TASSIGN: a tile of " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) + " of " +
                             kMemoryNames[in - t_memories] + " ends past its " + std::to_string(in->size) + " bytes";
    ptocpu_fault(0, text.c_str());
    return nullptr;
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

void ptocpu_warn_of_shapes(const char *instruction, int64_t rows, int64_t columns, int64_t global_rows, int64_t global_columns)
{
    const auto shape = [](int64_t r, int64_t c) { return std::to_string(r) + "x" + std::to_string(c); };
    count_warning(std::string(instruction) + ": the tile's valid region is " + shape(rows, columns) +
                      ", the GlobalTensor is " + shape(global_rows, global_columns), "", 0);
}

void ptocpu_violation(const char *condition, const char *file, int line)
{
    // Not by "/pto/" alone: a kernel of the user may lie below a directory of that name.
    const char *const parts[] = {"/pto/cpu/", "/pto/common/", "/pto/npu/", "/pto/comm/"};
    const bool simulator = std::any_of(std::begin(parts), std::end(parts), [&](const char *part) { return std::strstr(file, part); });
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
