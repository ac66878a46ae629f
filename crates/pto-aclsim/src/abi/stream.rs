//! Streams.

use std::ffi::c_void;

use super::{AclError, opaque, time_limit};
use crate::call::{call, store, wanted};
use crate::failure::{Failure, Outcome};
use crate::runtime::{self, End};
use crate::stream::Task;

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

struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
}

// SAFETY: the caller of `aclrtLaunchHostFunc` gives the argument to whatever thread the function is called on.
unsafe impl Send for HostCall {}

impl Task for HostCall {
    fn label(&self) -> String {
        "a host function".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        // SAFETY: the caller of `aclrtLaunchHostFunc` vouches for function and argument.
        unsafe { (self.function)(self.argument) };
        Ok(())
    }
}

/// Calls a host function when the stream gets to it. The stream goes on when it returns. Device memory stays closed.
///
/// # Safety
/// `function` can be called with `argument` once, from another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchHostFunc(
    stream: *mut c_void,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) -> AclError {
    call("aclrtLaunchHostFunc", || {
        let function = function.ok_or_else(|| Failure::null("fn"))?;
        runtime::working_stream(stream.addr())?.push(HostCall { function, argument });
        Ok(())
    })
}
