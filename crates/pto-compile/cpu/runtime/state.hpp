// What the runtime knows: launch sites, launches, cores, and what was counted.
#pragma once

#include "ptocpu.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
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

constexpr int kPoison = 0xFF;  // see ptocpu_publish

struct Site {
    ptocpu_trampoline run[2] = {nullptr, nullptr};
};

struct Warning {
    std::string text, file;
    int line;
    uint64_t count;
};

struct Launch;

// One of the on-chip memories.
struct Memory {
    char *base = nullptr;
    size_t size = 0;
};
constexpr const char *kMemoryNames[PTOCPU_MEMORIES] = {"UB", "L1", "L0A", "L0B", "L0C"};

struct Core {
    Launch *launch;
    ptocpu_core place;
    int side;
    uint32_t flags[2 * kFlags] = {};    // A2/A3 flags 0-15; A5 flags of a cube core 0-31
    uint32_t arrivals[kFlags] = {};     // sets not yet matched by this core's peers (modes 0 and 1, and vector to cube)
    int32_t pipe[kPipes][kPipes][kEvents] = {};
    char *ub = nullptr, *l1 = nullptr;  // for its peers; null before it has started
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
    std::string site, where;
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
std::string key_of(const ptocpu_site &site)
{
    return std::string(site.type) + '@' + site.library + '@' + site.where;
}
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
thread_local Memory t_memories[PTOCPU_MEMORIES];  // a kernel's function may be called without a launch: not the core's

}  // namespace
