// A launch: its cores are started, awaited, and what they left behind is looked at.
#pragma once

#include "blocking.hpp"
#include "report.hpp"

#include <exception>
#include <system_error>
#include <thread>

namespace {

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

// One thread per core. A machine that has no more of them ends the launch; the cores that were started are left behind.
std::vector<std::thread> start_cores(Launch &launch, const Site &site)
{
    std::vector<std::thread> threads;
    try {
        for (auto &core : launch.cores) threads.emplace_back(run_core, core.get(), site.run[core->side]);
    } catch (const std::system_error &error) {
        std::lock_guard lock(launch.mutex);
        set_fault(launch, kParamInvalid, "this machine cannot play " + std::to_string(launch.cores.size()) +
                                             " cores at once: thread " + std::to_string(threads.size() + 1) + ": " + error.what());
    }
    return threads;
}

// Refuses a launch before it starts.
int32_t refuse(Launch &launch, std::string reason)
{
    launch.fault = std::move(reason);
    return kParamInvalid;
}

int32_t run_launch(Launch &launch)
{
    if (launch.blocks == 0) return refuse(launch, "block_dim is 0");
    if (!launch.foreign.empty()) return refuse(launch, launch.foreign.front());
    Site site;
    {
        std::lock_guard lock(g_mutex);
        site = sites()[launch.site];
    }
    launch.mix = site.run[0] != nullptr && site.run[1] != nullptr;
    for (uint32_t block = 0; block < launch.blocks; block++) {
        if (site.run[PTOCPU_CUBE]) add_core(launch, PTOCPU_CUBE, block, 0, 1);
        if (site.run[PTOCPU_VECTOR])
            for (uint32_t sub = 0; sub < (launch.mix ? 2u : 1u); sub++)
                add_core(launch, PTOCPU_VECTOR, block, sub, launch.mix ? 2 : 1);
    }
    launch.running = launch.unfinished = launch.cores.size();
    std::vector<std::thread> threads = start_cores(launch, site);
    bool faulted;
    {
        std::unique_lock lock(launch.mutex);
        launch.changed.wait(lock, [&] { return launch.unfinished == 0 || launch.fault_code != 0; });
        faulted = launch.fault_code != 0;
    }
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

}  // namespace
