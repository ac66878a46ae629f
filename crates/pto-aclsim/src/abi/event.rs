//! Events.

use std::ffi::c_void;

use super::{AclError, opaque, time_limit};
use crate::call::{call, store, wanted};
use crate::event::{Event, TIME_LINE};
use crate::failure::Outcome;
use crate::runtime;

/// # Safety
/// `event` is null or valid for a write.
unsafe fn create(event: *mut *mut c_void, times: bool) -> Outcome<()> {
    wanted("event", event)?;
    let handle = runtime::create_event(times)?;
    // SAFETY: the caller vouches for its pointer.
    unsafe { store("event", event, opaque(handle)) }
}

/// Makes an event that keeps the time.
///
/// # Safety
/// `event` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEvent(event: *mut *mut c_void) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtCreateEvent", || unsafe { create(event, true) })
}

/// Makes an event; it keeps the time if `flag` has `ACL_EVENT_TIME_LINE`.
///
/// # Safety
/// `event` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventWithFlag(event: *mut *mut c_void, flag: u32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtCreateEventWithFlag", || unsafe { create(event, flag & TIME_LINE != 0) })
}

/// The same: events of both kinds are unlimited here.
///
/// # Safety
/// `event` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventExWithFlag(event: *mut *mut c_void, flag: u32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtCreateEventExWithFlag", || unsafe { create(event, flag & TIME_LINE != 0) })
}

/// Destroys an event. Streams that wait for it still get what they wait for.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyEvent(event: *mut c_void) -> AclError {
    call("aclrtDestroyEvent", || runtime::destroy_event(event.addr()))
}

/// Records an event on a stream.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtRecordEvent(event: *mut c_void, stream: *mut c_void) -> AclError {
    call("aclrtRecordEvent", || {
        let event = runtime::event(event.addr())?;
        runtime::working_stream(stream.addr())?.push(event.record());
        Ok(())
    })
}

/// Makes an event as good as new when the stream gets to it.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetEvent(event: *mut c_void, stream: *mut c_void) -> AclError {
    call("aclrtResetEvent", || {
        let event = runtime::event(event.addr())?;
        runtime::working_stream(stream.addr())?.push(event.reset());
        Ok(())
    })
}

/// Whether the last record was reached: `ACL_EVENT_RECORDED_STATUS_COMPLETE` (1) or `..._NOT_READY` (0).
///
/// # Safety
/// `status` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEventStatus(event: *mut c_void, status: *mut i32) -> AclError {
    call("aclrtQueryEventStatus", || {
        let reached = runtime::event(event.addr())?.is_reached();
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("status", status, i32::from(reached)) }
    })
}

/// Waits for the last record of an event.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeEvent(event: *mut c_void) -> AclError {
    call("aclrtSynchronizeEvent", || runtime::synchronize_event(event.addr(), None))
}

/// The same, for at most so many milliseconds; -1 is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeEventWithTimeout(event: *mut c_void, timeout: i32) -> AclError {
    call("aclrtSynchronizeEventWithTimeout", || runtime::synchronize_event(event.addr(), time_limit(timeout)?))
}

/// Milliseconds between two events.
///
/// # Safety
/// `ms` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtEventElapsedTime(ms: *mut f32, start: *mut c_void, end: *mut c_void) -> AclError {
    call("aclrtEventElapsedTime", || {
        let time = Event::elapsed(&*runtime::event(start.addr())?, &*runtime::event(end.addr())?)?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("ms", ms, time) }
    })
}
