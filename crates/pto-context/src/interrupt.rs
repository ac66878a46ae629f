//! Whether the user has asked for the end: one flag per process, as there is one Ctrl-C per process.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Asks all long work of this process to end; whether nobody had asked before. Async-signal-safe.
pub fn request() -> bool {
    !REQUESTED.swap(true, Ordering::SeqCst)
}

/// Whether the end was asked for. Long work looks at this between its steps.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
