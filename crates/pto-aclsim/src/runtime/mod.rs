//! The process-wide state: devices, and the handles given out to C.
//!
//! A handle is a number that is no address, looked up in a map: a destroyed or made-up one is recognized, and following
//! one as a pointer faults. The lock is held for look-ups only, never while something is waited for.

mod contexts;
mod devices;
mod events;
mod streams;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::config::{self, Config};
use crate::context::Context;
use crate::event::Event;
use crate::failure::{Failure, Outcome};
use crate::stream::Stream;
use crate::{codes, signal};

pub(crate) use contexts::{
    create_context, current_context, destroy_context, note_injected, set_current_context, working_context,
};
pub(crate) use devices::{End, reset_device, set_device};
pub(crate) use events::{create_event, destroy_event, event, synchronize_event};
pub(crate) use streams::{create_stream, destroy_stream, stream, synchronize, synchronize_device, working_stream};

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
        devices::tear_down(device, End::Abandon)?;
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
