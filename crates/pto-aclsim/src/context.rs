//! A context: what a thread works in. It belongs to one device and has a default stream.

use std::cell::Cell;
use std::sync::Arc;

use crate::stream::Stream;

/// A context. Handles to it are given out by the runtime.
pub(crate) struct Context {
    pub(crate) handle: usize,
    pub(crate) device: u32,
    pub(crate) default_stream: Arc<Stream>,
}

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The handle of the calling thread's context; 0 when it has none.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// Makes a context the calling thread's; 0 for none.
pub(crate) fn set_current(handle: usize) {
    CURRENT.set(handle);
}
