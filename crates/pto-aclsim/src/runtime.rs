//! The process-wide state: devices, and the handles given out to C.
//!
//! A handle is a number that is no address, looked up in a map: a destroyed or made-up one is recognized, and following
//! one as a pointer faults. The lock is held for look-ups only, never while something is waited for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::{self, Config};
use crate::context::{self, Context};
use crate::event::Event;
use crate::failure::{Failure, Outcome};
use crate::stream::Stream;
use crate::{codes, memory, report, signal};

#[derive(Default)]
struct Device {
    /// The context `aclrtSetDevice` made.
    primary: Option<usize>,
    /// The fault since which the device refuses work.
    fault: Option<Failure>,
}

#[derive(Default)]
struct Runtime {
    life: Life,
    devices: BTreeMap<u32, Device>,
    contexts: HashMap<usize, Arc<Context>>,
    streams: HashMap<usize, Arc<Stream>>,
    events: HashMap<usize, Arc<Event>>,
    handles: usize,
    stream_ids: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Life {
    #[default]
    Before,
    Initialized,
    Finalized,
}

static RUNTIME: LazyLock<Mutex<Runtime>> = LazyLock::new(Mutex::default);

fn lock() -> MutexGuard<'static, Runtime> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner) // a panic elsewhere is already reported as 500000
}

/// Handles have this bit: with it set, a 64-bit number is no address a program can have.
const HANDLE: usize = 1 << 62;

impl Runtime {
    fn new_handle(&mut self) -> usize {
        self.handles += 1;
        HANDLE | (self.handles << 4)
    }

    fn start_stream(&mut self, context: usize, device: u32) -> Outcome<Arc<Stream>> {
        self.stream_ids += 1;
        Stream::start(self.stream_ids, context, device)
    }

    fn new_context(&mut self, device: u32) -> Outcome<usize> {
        let handle = self.new_handle();
        let default_stream = self.start_stream(handle, device)?;
        self.contexts.insert(handle, Arc::new(Context { handle, device, default_stream }));
        Ok(handle)
    }
}

/// `aclInit`.
pub(crate) fn initialize() -> Outcome<()> {
    config::get()?;
    let mut runtime = lock();
    if runtime.life == Life::Initialized {
        return Err(Failure::new(codes::ACL_ERROR_REPEAT_INITIALIZE, "`aclInit` was called before"));
    }
    signal::install();
    runtime.life = Life::Initialized;
    Ok(())
}

/// `aclFinalize`. What was never freed is named on stderr: there is no other place for it.
pub(crate) fn finalize() -> Outcome<()> {
    match lock().life {
        Life::Initialized => {}
        Life::Before => return Err(uninitialized()),
        Life::Finalized => {
            return Err(Failure::new(codes::ACL_ERROR_REPEAT_FINALIZE, "`aclFinalize` was called before"));
        }
    }
    let devices: Vec<u32> = lock().devices.keys().copied().collect();
    for device in devices {
        tear_down(device, End::Abandon)?;
    }
    let mut runtime = lock();
    runtime.life = Life::Finalized;
    runtime.events.clear(); // the numbers of handles go on: an old handle never means a new thing
    Ok(())
}

fn uninitialized() -> Failure {
    Failure::new(codes::ACL_ERROR_UNINITIALIZE, "`aclInit` was not called")
}

/// The configuration, once `aclInit` was called.
pub(crate) fn initialized() -> Outcome<&'static Config> {
    if lock().life == Life::Initialized { config::get() } else { Err(uninitialized()) }
}

fn device_number(device: i32) -> Outcome<u32> {
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

fn tear_down(device: u32, end: End) -> Outcome<()> {
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
fn end_stream(stream: &Stream, end: End) -> Option<Failure> {
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

/// The calling thread's context.
pub(crate) fn current_context() -> Outcome<Arc<Context>> {
    let runtime = lock();
    if runtime.life != Life::Initialized {
        return Err(uninitialized());
    }
    runtime.contexts.get(&context::current()).cloned().ok_or_else(|| {
        let message = "this thread has no context: call `aclrtSetDevice` or `aclrtSetCurrentContext` on it";
        Failure::new(codes::ACL_ERROR_RT_CONTEXT_NULL, message)
    })
}

/// The calling thread's context, if its device takes work.
pub(crate) fn working_context() -> Outcome<Arc<Context>> {
    let context = current_context()?;
    match &lock().devices.entry(context.device).or_default().fault {
        None => Ok(context),
        Some(cause) => {
            let message = format!(
                "device {} refuses work until it is reset, since an earlier failure ({}: {})",
                context.device, cause.code, cause.message
            );
            Err(Failure::new(codes::ACL_ERROR_RT_DRV_INTERNAL_ERROR, message))
        }
    }
}

/// Remembers a failure the host was told about, if it puts the device in error.
fn note_fault(device: u32, failure: &Failure) {
    if codes::is_device_fault(failure.code) && failure.code != codes::ACL_ERROR_RT_DRV_INTERNAL_ERROR {
        lock().devices.entry(device).or_default().fault.get_or_insert_with(|| failure.clone());
    }
}

/// An injected failure counts as one of the current device.
pub(crate) fn note_injected(failure: &Failure) {
    if let Ok(context) = current_context() {
        note_fault(context.device, failure);
    }
}

/// `aclrtCreateContext`: the new context becomes the thread's.
pub(crate) fn create_context(device: i32) -> Outcome<usize> {
    let device = device_number(device)?;
    let mut runtime = lock();
    runtime.devices.entry(device).or_default();
    let handle = runtime.new_context(device)?;
    context::set_current(handle);
    Ok(handle)
}

fn unknown_context(handle: usize) -> Failure {
    Failure::new(codes::ACL_ERROR_RT_INVALID_HANDLE, format!("{handle:#x} is no context, or was destroyed"))
}

/// `aclrtDestroyContext`.
pub(crate) fn destroy_context(handle: usize) -> Outcome<()> {
    initialized()?;
    let mut runtime = lock();
    if runtime.devices.values().any(|device| device.primary == Some(handle)) {
        let message = "the context of `aclrtSetDevice` ends with `aclrtResetDevice` only";
        return Err(Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, message));
    }
    let context = runtime.contexts.remove(&handle).ok_or_else(|| unknown_context(handle))?;
    let own = runtime.streams.extract_if(|_, stream| stream.context == handle).map(|(_, stream)| stream);
    let streams: Vec<_> = own.chain([Arc::clone(&context.default_stream)]).collect();
    drop(runtime);
    for stream in streams {
        end_stream(&stream, End::Finish);
    }
    Ok(())
}

/// `aclrtSetCurrentContext`.
pub(crate) fn set_current_context(handle: usize) -> Outcome<()> {
    initialized()?;
    if !lock().contexts.contains_key(&handle) {
        return Err(unknown_context(handle));
    }
    context::set_current(handle);
    Ok(())
}

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
