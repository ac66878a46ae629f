//! Streams by their handles.

use std::sync::Arc;
use std::time::Duration;

use super::contexts::note_fault;
use super::devices::end_stream;
use super::{End, current_context, initialized, lock, working_context};
use crate::codes;
use crate::failure::{Failure, Outcome};
use crate::stream::Stream;

/// Makes a stream in the current context.
pub(crate) fn create_stream() -> Outcome<usize> {
    let context = working_context()?;
    let mut runtime = lock();
    let stream = runtime.start_stream(context.handle, context.device)?;
    let handle = runtime.new_handle();
    runtime.streams.insert(handle, stream);
    Ok(handle)
}

/// The stream of a handle; null is the default stream of the current context.
pub(crate) fn stream(handle: usize) -> Outcome<Arc<Stream>> {
    let context = current_context()?;
    if handle == 0 {
        return Ok(Arc::clone(&context.default_stream));
    }
    let wrong = |what: &str| Failure::new(codes::ACL_ERROR_RT_STREAM_CONTEXT, format!("{handle:#x} {what}"));
    let stream = lock().streams.get(&handle).cloned();
    let stream = stream.ok_or_else(|| wrong("is no stream, or was destroyed"))?;
    if stream.context == context.handle { Ok(stream) } else { Err(wrong("is a stream of another context")) }
}

/// The stream of a handle, if its device takes work.
pub(crate) fn working_stream(handle: usize) -> Outcome<Arc<Stream>> {
    let stream = stream(handle)?;
    working_context()?;
    Ok(stream)
}

/// Destroys a stream of any context.
pub(crate) fn destroy_stream(handle: usize, end: End) -> Outcome<()> {
    initialized()?;
    let stream = lock().streams.remove(&handle).ok_or_else(|| {
        Failure::new(codes::ACL_ERROR_RT_STREAM_CONTEXT, format!("{handle:#x} is no stream, or was destroyed"))
    })?;
    match end_stream(&stream, end) {
        None => Ok(()),
        Some(failure) => {
            note_fault(stream.device, &failure);
            Err(failure)
        }
    }
}

/// Waits for a stream. Its own failure comes first; then that of its device.
pub(crate) fn synchronize(handle: usize, limit: Option<Duration>) -> Outcome<()> {
    let stream = stream(handle)?;
    stream.synchronize(limit).inspect_err(|failure| note_fault(stream.device, failure))?;
    working_context().map(drop)
}

/// Waits for all streams of the current device, within the limit together.
pub(crate) fn synchronize_device(limit: Option<Duration>) -> Outcome<()> {
    let context = current_context()?;
    let streams: Vec<_> = {
        let runtime = lock();
        let defaults = runtime.contexts.values().map(|context| &context.default_stream);
        defaults.chain(runtime.streams.values()).filter(|stream| stream.device == context.device).cloned().collect()
    };
    let started = std::time::Instant::now();
    for stream in streams {
        let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
        stream.synchronize(left).inspect_err(|failure| note_fault(stream.device, failure))?;
    }
    working_context().map(drop)
}
