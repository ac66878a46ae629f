//! Begin, end, and what is known without a device.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use super::AclError;
use crate::call::{call, store};
use crate::{codes, config, failure, runtime};

/// The ACL interface version this library has: that of the headers it is tested against.
const VERSION: [i32; 3] = [1, 12, 0];

/// Initializes the library. The configuration file is not read: there is nothing in it that this device has.
///
/// # Safety
/// `config_path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclInit(_config_path: *const c_char) -> AclError {
    call("aclInit", runtime::initialize)
}

/// Ends the use of the library: streams that still work are abandoned, memory that was not freed is named on stderr.
#[unsafe(no_mangle)]
pub extern "C" fn aclFinalize() -> AclError {
    call("aclFinalize", runtime::finalize)
}

/// The message of this thread's most recent failure, or null. Valid until the next failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn aclGetRecentErrMsg() -> *const c_char {
    failure::recent_message()
}

/// The version of the ACL interface.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) -> AclError {
    call("aclrtGetVersion", || {
        let places = [("majorVersion", major), ("minorVersion", minor), ("patchVersion", patch)];
        for ((argument, place), value) in places.into_iter().zip(VERSION) {
            // SAFETY: the caller vouches for its pointers.
            unsafe { store(argument, place, value)? };
        }
        Ok(())
    })
}

/// The SoC name; null when the configuration cannot be understood.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtGetSocName() -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    let mut name = std::ptr::null();
    call("aclrtGetSocName", || {
        let config = config::get()?;
        name = NAME.get_or_init(|| CString::new(config.soc.as_str()).unwrap_or_default()).as_ptr();
        Ok(())
    });
    name
}

/// Where this process runs: on the host (`ACL_HOST`, 1).
///
/// # Safety
/// `mode` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetRunMode(mode: *mut i32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtGetRunMode", || unsafe { store("runMode", mode, 1) })
}

/// The code of this thread's most recent failure. There is one level, that of the thread.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtPeekAtLastError(level: i32) -> AclError {
    if level == 0 { failure::last_code(false) } else { codes::ACL_ERROR_RT_PARAM_INVALID }
}

/// The same, and forgets it.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtGetLastError(level: i32) -> AclError {
    if level == 0 { failure::last_code(true) } else { codes::ACL_ERROR_RT_PARAM_INVALID }
}
