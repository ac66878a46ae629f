//! How long a compiler may take.

use std::time::Duration;

use pto_context::{BadSeconds, Context};

/// Long enough for a large kernel on a slow machine, and for a compiler that builds its standard library at its first call
/// (zig: a minute); short enough that one that hangs does not hold a test run for ever.
pub const DEADLINE: Duration = Duration::from_secs(600);
/// Overrides [`DEADLINE`] of each step of a plan, each compilation and each probe, in seconds.
pub const DEADLINE_VARIABLE: &str = "PTO_COMPILE_TIMEOUT_S";

/// The deadline for one run of a compiler.
pub(crate) fn deadline(cx: &Context) -> Result<Duration, BadSeconds> {
    cx.seconds(DEADLINE_VARIABLE, DEADLINE)
}
