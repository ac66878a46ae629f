//! The steps of a launch that may hang, each with its name for the caller and its limit.

use std::time::Duration;

use crate::exchange::Exchange;
use crate::phase::Phase;
use crate::request::Limits;

use super::watchdog::Watchdog;

/// A library that was given a limit keeps it itself, and then says what it knows. If it does not come back at all, the
/// watchdog ends it so much later.
const SLACK: Duration = Duration::from_secs(2);

/// Says what a launch does, to the caller and to the watchdog.
pub(super) struct Steps<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) watchdog: &'a Watchdog,
    pub(super) limits: Limits,
}

impl Steps<'_> {
    /// The launcher is called next.
    pub(super) fn launch(&self, run: u32) {
        self.exchange.enter(run, Phase::Launch);
        self.watchdog.limit(Phase::Launch, self.limits.launch);
    }

    /// It has returned, and the stream is waited for.
    pub(super) fn synchronize(&self, run: u32) {
        self.exchange.enter(run, Phase::Synchronize);
        self.watchdog.limit(Phase::Synchronize, self.limits.sync.saturating_add(SLACK));
    }

    /// The kernel is done.
    pub(super) fn done(&self) {
        self.watchdog.clear();
    }
}
