//! How long a launch may take.

use std::time::Duration;

use pto_context::{BadSeconds, Context};
use pto_platform::Target;

/// A whole process on a device: launching, running, teardown.
const PROCESS: Duration = Duration::from_secs(60);
/// The same on the CPU, where 48 cores share what processors there are.
const CPU_PROCESS: Duration = Duration::from_secs(120);
/// One synchronization.
const SYNC: Duration = Duration::from_secs(60);

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

    /// Those of a target, unless the environment says otherwise.
    pub(super) fn of(cx: &Context, target: Target) -> Result<Self, BadSeconds> {
        let process = if target == Target::Cpu { CPU_PROCESS } else { PROCESS };
        Ok(Self { process: cx.seconds(Self::PROCESS_VARIABLE, process)?, sync: cx.seconds(Self::SYNC_VARIABLE, SYNC)? })
    }
}
