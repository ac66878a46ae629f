//! The process group a child leads.

use std::process::Child;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A child's process group. Its number stays ours until the leader is reaped: as long as the leader is at least a
/// zombie the kernel gives the number to nobody else, so a signal cannot hit a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group(Pid);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    pub(crate) fn terminate(self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(self, signal: Signal) {
        // The only failures are "nobody there" (all have ended: what we want) and "not permitted" (all that is left
        // changed its user: not ours to end). Neither can be acted on.
        let _ = kill_process_group(self.0, signal);
    }

    /// Blocks until the leader has ended, without reaping it.
    pub(crate) fn await_leader(self) -> std::io::Result<()> {
        self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    }

    /// Reaps the leader of a group nobody else waits for any more.
    pub(crate) fn reap_leader(self) -> std::io::Result<()> {
        self.wait(WaitIdOptions::EXITED)
    }

    fn wait(self, options: WaitIdOptions) -> std::io::Result<()> {
        rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.0), options))?;
        Ok(())
    }
}
