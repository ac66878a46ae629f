//! The functions of the C ABI, by subject. Each takes what C passes, and gives the work to the modules behind.
//!
//! Enumerations are passed as `i32`, handles as pointers that are never followed.

mod callback;
mod device;
mod event;
mod extension;
mod lifecycle;
mod memory;
mod stream;

pub use callback::*;
pub use device::*;
pub use event::*;
pub use extension::*;
pub use lifecycle::*;
pub use memory::*;
pub use stream::*;

use std::ffi::c_void;
use std::time::Duration;

use crate::codes;
use crate::failure::{Failure, Outcome};

/// `aclError`.
pub type AclError = i32;
/// `aclrtMemcpyKind`.
pub type MemcpyKind = i32;

/// The functions a fault can hit: all but the few that cannot fail. A test compares them with the sources.
pub(crate) const FUNCTIONS: &[&str] = &[
    "aclInit",
    "aclFinalize",
    "aclGetDeviceCapability",
    "aclrtGetVersion",
    "aclrtGetSocName",
    "aclrtGetRunMode",
    "aclrtSetDevice",
    "aclrtGetDevice",
    "aclrtResetDevice",
    "aclrtResetDeviceForce",
    "aclrtGetDeviceCount",
    "aclrtGetDeviceInfo",
    "aclrtSynchronizeDevice",
    "aclrtSynchronizeDeviceWithTimeout",
    "aclrtCreateContext",
    "aclrtDestroyContext",
    "aclrtSetCurrentContext",
    "aclrtGetCurrentContext",
    "aclrtCreateStream",
    "aclrtCreateStreamWithConfig",
    "aclrtDestroyStream",
    "aclrtDestroyStreamForce",
    "aclrtSynchronizeStream",
    "aclrtSynchronizeStreamWithTimeout",
    "aclrtStreamQuery",
    "aclrtStreamWaitEvent",
    "aclrtLaunchHostFunc",
    "aclrtSubscribeReport",
    "aclrtUnSubscribeReport",
    "aclrtLaunchCallback",
    "aclrtProcessReport",
    "aclrtCreateEvent",
    "aclrtCreateEventWithFlag",
    "aclrtCreateEventExWithFlag",
    "aclrtDestroyEvent",
    "aclrtRecordEvent",
    "aclrtResetEvent",
    "aclrtQueryEventStatus",
    "aclrtSynchronizeEvent",
    "aclrtSynchronizeEventWithTimeout",
    "aclrtEventElapsedTime",
    "aclrtMalloc",
    "aclrtMallocAlign32",
    "aclrtFree",
    "aclrtMallocHost",
    "aclrtFreeHost",
    "aclrtMemcpy",
    "aclrtMemcpyAsync",
    "aclrtMemset",
    "aclrtMemsetAsync",
    "aclrtGetMemInfo",
    "aclsimLaunchKernel",
];

/// A handle as C sees it.
fn opaque(handle: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(handle)
}

/// A time-out in milliseconds; -1 is none.
fn time_limit(ms: i32) -> Outcome<Option<Duration>> {
    match u64::try_from(ms) {
        Ok(ms) => Ok(Some(Duration::from_millis(ms))),
        Err(_) if ms == -1 => Ok(None),
        Err(_) => {
            let message = format!("argument `timeout` is {ms}; expected -1 (no limit) or milliseconds");
            Err(Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Fault injection goes by name: a function that is missing from the list could not be hit.
    #[test]
    fn every_function_that_can_fail_is_listed() {
        let sources = [
            include_str!("callback.rs"),
            include_str!("device.rs"),
            include_str!("event.rs"),
            include_str!("extension.rs"),
            include_str!("lifecycle.rs"),
            include_str!("memory.rs"),
            include_str!("stream.rs"),
        ];
        let mut fallible = BTreeSet::new();
        for function in sources.iter().flat_map(|source| source.split("#[unsafe(no_mangle)]").skip(1)) {
            let name = function.split_once("fn ").unwrap().1.split_once('(').unwrap().0;
            if let Some((_, rest)) = function.split_once("call(\"") {
                assert_eq!(rest.split_once('"').unwrap().0, name, "the name a function goes by");
                fallible.insert(name);
            }
        }
        assert_eq!(fallible, FUNCTIONS.iter().copied().collect());
    }
}
