// Where PTO-ISA's simulator waits for another core or, for want of cores, does not: its FIFOs (TPUSH, TPOP) and SYNCALL. Here
// each goes through the runtime, which knows who else waits and so sees a wait that nobody will end.
#pragma once

#include <pto/common/type.hpp>

namespace ptocpu {

// Takes the place of std::condition_variable in the state of a FIFO, which both sides of a mix kernel share.
class Condition {
public:
    template <typename Ready>
    void wait(std::unique_lock<std::mutex> &lock, Ready ready)
    {
#if !PTOCPU_HAS_PIPE_HOOK
        ptocpu_fault(0, "TPUSH/TPOP: these PTO-ISA headers have no FIFO that two vector cores can read; newer ones have");
#endif
        for (;;) {
            // Read before `ready` looks: a change after that look ends the wait below at once.
            const uint64_t seen = ptocpu_condition_changes(&changes);
            if (ready()) return;
            lock.unlock();
            ptocpu_condition_wait(&changes, seen, "a slot of a TPUSH/TPOP pipe");
            lock.lock();
        }
    }
    void notify_all() { ptocpu_condition_change(&changes); }
    void notify_one() { ptocpu_condition_change(&changes); }

private:
    uint64_t changes = 0;  // under the launch's mutex
};

}  // namespace ptocpu

// The FIFO's header names std::condition_variable itself; while it is read, the name stands for ours (simulator.hpp).
namespace std {
using ptocpu_condition_variable = ::ptocpu::Condition;
}

#if PTOCPU_HAS_SYNCALL
namespace ptocpu {

// All cores of one kind, or of both, meet. The other kind passes by, as on the device.
template <pto::SyncCoreType Cores>
void meet(const void *counter, int32_t members)
{
    constexpr bool both = Cores == pto::SyncCoreType::Mix;
    constexpr bool here = both || PTOCPU_SIDE == (Cores == pto::SyncCoreType::AICOnly ? 1 : 0);
    if constexpr (here) {
        if (members > 0) ptocpu_sync_some(counter, static_cast<uint32_t>(members));
        else ptocpu_sync_all(both ? 2 : PTOCPU_SIDE);
    }
}

// The software form takes a counter in GM, in some header sets workspaces on chip, and last the number of cores (0: all).
template <pto::SyncCoreType Cores, typename... Workspaces>
void meet_counted(const void *counter, Workspaces... rest)
{
    meet<Cores>(counter, std::get<sizeof...(rest) - 1>(std::tuple(rest...)));
}

}  // namespace ptocpu

namespace pto {

template <SyncCoreType CoreType = SyncCoreType::AIVOnly>
inline void SYNCALL_IMPL()
{
    ptocpu::meet<CoreType>(nullptr, 0);
}
template <SyncCoreType CoreType = SyncCoreType::AIVOnly, typename... Rest>
inline void SYNCALL_SOFT_IMPL(int32_t *counter, Rest... rest)
{
    ptocpu::meet_counted<CoreType>(counter, rest...);
}
template <typename... Rest>
inline void SYNCALL_SOFT_AIC_IMPL(int32_t *counter, Rest... rest)
{
    ptocpu::meet_counted<SyncCoreType::AICOnly>(counter, rest...);
}
template <SyncCoreType CoreType = SyncCoreType::Mix, typename... Rest>
inline void SYNCALL_SOFT_MIX_IMPL(int32_t *counter, Rest... rest)
{
    ptocpu::meet_counted<CoreType>(counter, rest...);
}

}  // namespace pto
#endif
