//! How to ask.

use std::path::PathBuf;
use std::time::Duration;

use pto_context::Context;

/// How long a program may take to answer. `npu-smi info` needs up to 3 s on a host of 16 dies; a program that needs three
/// times that is stuck. In seconds.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);
/// Overrules [`DEFAULT_DEADLINE`], in seconds.
const DEADLINE_VARIABLE: &str = "PTOKIT_PROBE_SECONDS";
/// Opening a device takes up to 8 s on a host where nothing was run since it booted.
const ACL_DEADLINE: Duration = Duration::from_secs(20);

/// How to ask.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// A program whose `main` calls [`acl_probe::intercept`](crate::acl_probe::intercept); without one ACL is not asked.
    pub worker: Option<PathBuf>,
    /// How long each program may take.
    pub deadline: Duration,
}

impl ProbeOptions {
    /// The deadline that the environment names, or the default; no worker.
    pub fn new(cx: &Context) -> Self {
        let seconds = cx.var(DEADLINE_VARIABLE).and_then(|text| text.parse().ok());
        Self { worker: None, deadline: seconds.map_or(DEFAULT_DEADLINE, Duration::from_secs) }
    }

    /// How long ACL may take: never less than a device needs to open.
    pub fn acl_deadline(&self) -> Duration {
        self.deadline.max(ACL_DEADLINE)
    }
}
