//! Streams.

use std::ffi::c_void;

use super::{AclError, opaque, time_limit};
use crate::call::{call, store, wanted};
use crate::failure::Outcome;
use crate::runtime::{self, End};

/// Makes a stream in the current context.
///
/// # Safety
/// `stream` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStream(stream: *mut *mut c_void) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtCreateStream", || unsafe { create(stream) })
}

/// The same. Priority and flags change nothing: each stream has a thread of its own.
///
/// # Safety
/// `stream` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStreamWithConfig(stream: *mut *mut c_void, _priority: u32, _flag: u32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtCreateStreamWithConfig", || unsafe { create(stream) })
}

/// # Safety
/// `stream` is null or valid for a write.
unsafe fn create(stream: *mut *mut c_void) -> Outcome<()> {
    wanted("stream", stream)?;
    let handle = runtime::create_stream()?;
    // SAFETY: the caller vouches for its pointer.
    unsafe { store("stream", stream, opaque(handle)) }
}

/// Ends a stream after its tasks. A failure that nobody was told of is told here.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyStream(stream: *mut c_void) -> AclError {
    call("aclrtDestroyStream", || runtime::destroy_stream(stream.addr(), End::Finish))
}

/// Ends a stream without waiting: what did not begin is dropped, what runs is abandoned.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyStreamForce(stream: *mut c_void) -> AclError {
    call("aclrtDestroyStreamForce", || runtime::destroy_stream(stream.addr(), End::Abandon))
}

/// Waits for a stream.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeStream(stream: *mut c_void) -> AclError {
    call("aclrtSynchronizeStream", || runtime::synchronize(stream.addr(), None))
}

/// The same, for at most so many milliseconds; -1 is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeStreamWithTimeout(stream: *mut c_void, timeout: i32) -> AclError {
    call("aclrtSynchronizeStreamWithTimeout", || runtime::synchronize(stream.addr(), time_limit(timeout)?))
}

/// Whether a stream is done: `ACL_STREAM_STATUS_COMPLETE` (0) or `ACL_STREAM_STATUS_NOT_READY` (1).
///
/// # Safety
/// `status` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamQuery(stream: *mut c_void, status: *mut i32) -> AclError {
    call("aclrtStreamQuery", || {
        let idle = runtime::stream(stream.addr())?.is_idle();
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("status", status, i32::from(!idle)) }
    })
}

/// Makes a stream wait for the last record of an event; for the first one, if there is none yet.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtStreamWaitEvent(stream: *mut c_void, event: *mut c_void) -> AclError {
    call("aclrtStreamWaitEvent", || {
        let event = runtime::event(event.addr())?;
        runtime::working_stream(stream.addr())?.push(event.wait_task());
        Ok(())
    })
}
