//! Devices: set, reset, and the streams and memory that end with them.

use std::sync::Arc;

use super::{initialized, lock};
use crate::failure::{Failure, Outcome};
use crate::stream::Stream;
use crate::{codes, context, memory, report};

pub(super) fn device_number(device: i32) -> Outcome<u32> {
    let count = initialized()?.devices;
    u32::try_from(device).ok().filter(|device| *device < count).ok_or_else(|| {
        let message = format!("there is no device {device}: this machine has {count}, counted from 0");
        Failure::new(codes::ACL_ERROR_RT_INVALID_DEVICEID, message)
    })
}

/// `aclrtSetDevice`: makes the primary context of a device the thread's.
pub(crate) fn set_device(device: i32) -> Outcome<()> {
    let device = device_number(device)?;
    let mut runtime = lock();
    let handle = match runtime.devices.entry(device).or_default().primary {
        Some(handle) => handle,
        None => {
            let handle = runtime.new_context(device)?;
            runtime.devices.entry(device).or_default().primary = Some(handle);
            handle
        }
    };
    context::set_current(handle);
    Ok(())
}

/// How the streams of a device end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// After their tasks.
    Finish,
    /// At once.
    Abandon,
}

/// `aclrtResetDevice`: ends all contexts and streams of a device, frees its memory, and heals it.
pub(crate) fn reset_device(device: i32, end: End) -> Outcome<()> {
    tear_down(device_number(device)?, end)
}

pub(super) fn tear_down(device: u32, end: End) -> Outcome<()> {
    let streams: Vec<_> = {
        let mut runtime = lock();
        let own = runtime.streams.extract_if(|_, stream| stream.device == device).map(|(_, stream)| stream);
        let mut streams: Vec<_> = own.collect();
        let contexts = runtime.contexts.extract_if(|_, context| context.device == device);
        streams.extend(contexts.map(|(_, context)| Arc::clone(&context.default_stream)));
        streams
    };
    for stream in streams {
        end_stream(&stream, end);
    }
    report_leaks(device, &memory::release_device(device));
    lock().devices.remove(&device);
    Ok(())
}

/// Ends a stream; its failure, if it has one that nobody was told.
pub(super) fn end_stream(stream: &Stream, end: End) -> Option<Failure> {
    if end == End::Abandon && !stream.is_idle() {
        stream.abandon();
        return None;
    }
    let outcome = stream.synchronize(None);
    stream.close();
    outcome.err()
}

fn report_leaks(device: u32, leaked: &[(u64, usize)]) {
    if leaked.is_empty() {
        return;
    }
    let bytes: usize = leaked.iter().map(|(_, size)| size).sum();
    let first: Vec<_> = leaked.iter().take(8).map(|(id, size)| format!("#{id} ({size} bytes)")).collect();
    let more = if leaked.len() > first.len() { ", ..." } else { "" };
    report::say(format_args!(
        "device {device} was reset with {} device buffers ({bytes} bytes) never freed: {}{more}",
        leaked.len(),
        first.join(", ")
    ));
}
