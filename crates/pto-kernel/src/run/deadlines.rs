//! How long a launch may take.

use std::time::Duration;

use pto_context::{BadSeconds, Context};
use pto_launch::LaunchPath;

/// A whole process on a device: launching, running, teardown.
const PROCESS: Duration = Duration::from_secs(60);
/// The same on the CPU, where 48 cores share what processors there are.
const CPU_PROCESS: Duration = Duration::from_secs(120);
/// One synchronization.
const SYNC: Duration = Duration::from_secs(60);
/// A whole process on CANN's model, which needs minutes for what a card does in microseconds.
const MODEL_PROCESS: Duration = Duration::from_secs(1800);

/// How long a launch may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    /// The whole process.
    pub(super) process: Duration,
    /// One synchronization.
    pub(super) sync: Duration,
}

impl Deadlines {
    /// Overrides [`Deadlines::process`], in seconds.
    pub(super) const PROCESS_VARIABLE: &str = "PTO_PROCESS_TIMEOUT_S";
    /// Overrides [`Deadlines::sync`], in seconds.
    pub(super) const SYNC_VARIABLE: &str = "PTO_SYNC_TIMEOUT_S";

    /// Those of a launch path, unless the environment says otherwise. On the model the kernel runs while it is waited for, so
    /// that may take as long as all together.
    pub(super) fn of(cx: &Context, path: LaunchPath) -> Result<Self, BadSeconds> {
        let (process, sync) = match path {
            LaunchPath::Cpu => (CPU_PROCESS, SYNC),
            LaunchPath::Direct => (PROCESS, SYNC),
            LaunchPath::Msprof | LaunchPath::Cannsim | LaunchPath::Linked => (MODEL_PROCESS, MODEL_PROCESS),
        };
        Ok(Self { process: cx.seconds(Self::PROCESS_VARIABLE, process)?, sync: cx.seconds(Self::SYNC_VARIABLE, sync)? })
    }
}
