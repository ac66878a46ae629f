//! How a kernel is timed.

use serde::{Deserialize, Serialize};

/// How a kernel is timed, in the same process and on the same stream, after a launch like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Launches before the first that counts: they load code, fill caches and raise the clock.
    pub warmup: u32,
    /// Launches that are timed, each by a pair of events.
    pub repeats: u32,
    /// A buffer of as many bytes is written before each launch, so that what the last one read is in no cache; 0 for none.
    pub flush_bytes: usize,
}
