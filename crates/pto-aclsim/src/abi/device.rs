//! Devices and contexts.

use std::ffi::c_void;

use super::{AclError, opaque, time_limit};
use crate::call::{call, store, wanted};
use crate::codes;
use crate::config::Config;
use crate::context;
use crate::failure::{Failure, Outcome};
use crate::runtime::{self, End};

/// Makes a device, and its primary context, the calling thread's.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetDevice(device: i32) -> AclError {
    call("aclrtSetDevice", || runtime::set_device(device))
}

/// The calling thread's device.
///
/// # Safety
/// `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDevice(device: *mut i32) -> AclError {
    call("aclrtGetDevice", || {
        let context = runtime::current_context()?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("deviceId", device, context.device as i32) }
    })
}

/// Waits for a device's streams, then ends everything on it. A device in error works again afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetDevice(device: i32) -> AclError {
    call("aclrtResetDevice", || runtime::reset_device(device, End::Finish))
}

/// Ends everything on a device without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetDeviceForce(device: i32) -> AclError {
    call("aclrtResetDeviceForce", || runtime::reset_device(device, End::Abandon))
}

/// The number of devices.
///
/// # Safety
/// `count` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceCount(count: *mut u32) -> AclError {
    call("aclrtGetDeviceCount", || {
        let devices = runtime::initialized()?.devices;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("count", count, devices) }
    })
}

fn unknown_attribute(argument: &str, value: i32) -> Failure {
    let message = format!("argument `{argument}` is {value}: this device has no such attribute");
    Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, message)
}

/// `aclDeviceInfo`: AI cores are the cube cores, as a mixed core is one cube core with its vector cores.
fn capability(config: &Config, info: i32) -> Outcome<i64> {
    match info {
        0 => Ok(config.cube_cores.into()),
        1 => Ok(config.vector_cores.into()),
        _ => Err(unknown_attribute("deviceInfo", info)),
    }
}

/// `aclrtDevAttr`, by the values of the runtime's documentation: the headers we test against do not have it yet.
fn attribute(config: &Config, attribute: i32) -> Outcome<i64> {
    match attribute {
        101 | 102 => Ok(config.cube_cores.into()),
        201 => Ok(config.vector_cores.into()),
        301 => Ok(config.memory as i64),
        _ => Err(unknown_attribute("attr", attribute)),
    }
}

fn known_device(device: u32) -> Outcome<&'static Config> {
    let config = runtime::initialized()?;
    if device < config.devices {
        return Ok(config);
    }
    let message = format!("there is no device {device}: this machine has {}, counted from 0", config.devices);
    Err(Failure::new(codes::ACL_ERROR_RT_INVALID_DEVICEID, message))
}

/// The number of AI cores (0) or vector cores (1) of a device.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDeviceCapability(device: u32, info: i32, value: *mut i64) -> AclError {
    call("aclGetDeviceCapability", || {
        let found = capability(known_device(device)?, info)?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("value", value, found) }
    })
}

/// An attribute of a device: core counts and memory size.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceInfo(device: u32, attr: i32, value: *mut i64) -> AclError {
    call("aclrtGetDeviceInfo", || {
        let found = attribute(known_device(device)?, attr)?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("value", value, found) }
    })
}

/// Waits for all streams of the current device.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeDevice() -> AclError {
    call("aclrtSynchronizeDevice", || runtime::synchronize_device(None))
}

/// The same, for at most so many milliseconds; -1 is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeDeviceWithTimeout(timeout: i32) -> AclError {
    call("aclrtSynchronizeDeviceWithTimeout", || runtime::synchronize_device(time_limit(timeout)?))
}

/// Makes a context on a device; it becomes the calling thread's.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateContext(context: *mut *mut c_void, device: i32) -> AclError {
    call("aclrtCreateContext", || {
        wanted("context", context)?;
        let handle = runtime::create_context(device)?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("context", context, opaque(handle)) }
    })
}

/// Ends a context that `aclrtCreateContext` made, after its streams.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyContext(context: *mut c_void) -> AclError {
    call("aclrtDestroyContext", || runtime::destroy_context(context.addr()))
}

/// Makes a context the calling thread's.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetCurrentContext(context: *mut c_void) -> AclError {
    call("aclrtSetCurrentContext", || runtime::set_current_context(context.addr()))
}

/// The calling thread's context.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetCurrentContext(context: *mut *mut c_void) -> AclError {
    call("aclrtGetCurrentContext", || {
        runtime::current_context()?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("context", context, opaque(context::current())) }
    })
}
