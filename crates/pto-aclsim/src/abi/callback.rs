//! Host functions that a stream calls.

use std::ffi::c_void;

use super::{AclError, time_limit};
use crate::call::call;
use crate::callback::{self, HostCall};
use crate::failure::Failure;
use crate::runtime;

/// A function of the host.
pub type HostFunction = unsafe extern "C" fn(*mut c_void);

/// Calls a host function when the stream gets to it. The stream goes on when it returns. Device memory stays closed.
///
/// # Safety
/// `function` can be called with `argument` once, from another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchHostFunc(
    stream: *mut c_void,
    function: Option<HostFunction>,
    argument: *mut c_void,
) -> AclError {
    call("aclrtLaunchHostFunc", || {
        let function = function.ok_or_else(|| Failure::null("fn"))?;
        runtime::working_stream(stream.addr())?.push(HostCall { function, argument });
        Ok(())
    })
}

/// Makes a thread, by its `pthread_t`, the one that runs the callbacks of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSubscribeReport(thread: u64, stream: *mut c_void) -> AclError {
    call("aclrtSubscribeReport", || {
        runtime::working_stream(stream.addr())?;
        callback::subscribe(thread, stream.addr());
        Ok(())
    })
}

/// Ends what `aclrtSubscribeReport` began.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtUnSubscribeReport(thread: u64, stream: *mut c_void) -> AclError {
    call("aclrtUnSubscribeReport", || {
        runtime::stream(stream.addr())?;
        callback::unsubscribe(thread, stream.addr())
    })
}

/// Calls a host function on the thread that subscribed, when the stream gets to it; `ACL_CALLBACK_BLOCK` (1) makes the
/// stream wait for it.
///
/// # Safety
/// `function` can be called with `argument` once, from the thread that subscribed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchCallback(
    function: Option<HostFunction>,
    argument: *mut c_void,
    block_type: i32,
    stream: *mut c_void,
) -> AclError {
    call("aclrtLaunchCallback", || {
        let function = function.ok_or_else(|| Failure::null("fn"))?;
        let target = runtime::working_stream(stream.addr())?;
        target.push(callback::post(HostCall { function, argument }, stream.addr(), block_type == 1)?);
        Ok(())
    })
}

/// Runs the next callback on the calling thread, which subscribed; waits for one for at most so many milliseconds, -1
/// without a limit.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtProcessReport(timeout: i32) -> AclError {
    call("aclrtProcessReport", || {
        // SAFETY: has no precondition.
        let thread = unsafe { libc::pthread_self() } as u64;
        callback::process(thread, time_limit(timeout)?)
    })
}
