//! Contexts, and whether their device takes work.

use std::sync::Arc;

use super::devices::{device_number, end_stream};
use super::{End, Life, initialized, lock, uninitialized};
use crate::codes;
use crate::context::{self, Context};
use crate::failure::{Failure, Outcome};

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
pub(super) fn note_fault(device: u32, failure: &Failure) {
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
