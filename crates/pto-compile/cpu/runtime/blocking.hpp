// How cores wait for each other, and how it is seen that they wait for good. A fault never unwinds kernel code: the core
// records its verdict and sleeps, the launch returns.
#pragma once

#include "state.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

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

}  // namespace
