//! Events by their handles.

use std::sync::Arc;
use std::time::Duration;

use super::contexts::note_fault;
use super::{current_context, initialized, lock, working_context};
use crate::codes;
use crate::event::Event;
use crate::failure::{Failure, Outcome};

/// Makes an event.
pub(crate) fn create_event(times: bool) -> Outcome<usize> {
    working_context()?;
    let mut runtime = lock();
    let handle = runtime.new_handle();
    runtime.events.insert(handle, Event::new(times));
    Ok(handle)
}

fn unknown_event(handle: usize) -> Failure {
    Failure::new(codes::ACL_ERROR_RT_INVALID_HANDLE, format!("{handle:#x} is no event, or was destroyed"))
}

/// The event of a handle.
pub(crate) fn event(handle: usize) -> Outcome<Arc<Event>> {
    initialized()?;
    lock().events.get(&handle).cloned().ok_or_else(|| unknown_event(handle))
}

/// Waits for an event, and remembers what its stream died of.
pub(crate) fn synchronize_event(handle: usize, limit: Option<Duration>) -> Outcome<()> {
    let event = event(handle)?;
    let context = current_context()?;
    event.synchronize(limit).inspect_err(|failure| note_fault(context.device, failure))
}

/// Destroys an event.
pub(crate) fn destroy_event(handle: usize) -> Outcome<()> {
    initialized()?;
    lock().events.remove(&handle).map(drop).ok_or_else(|| unknown_event(handle))
}
