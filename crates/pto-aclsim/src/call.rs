//! The wrapper around every function of the ABI: injected faults, panics, and the memory of the last failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{Failure, Outcome, remember};
use crate::{codes, config, runtime};

/// Runs the body of the ABI function `name` and gives its return code. Nothing unwinds into C.
pub(crate) fn call(name: &'static str, body: impl FnOnce() -> Outcome<()>) -> i32 {
    let outcome = guarded(name, || {
        if let Some(action) = config::get()?.faults.next(name) {
            action.strike(name).inspect_err(runtime::note_injected)?;
        }
        body()
    });
    match outcome {
        Ok(()) => codes::ACL_SUCCESS,
        Err(failure) => {
            remember(&failure);
            failure.code
        }
    }
}

/// Runs `body`; a panic becomes an internal error that names `what`.
pub(crate) fn guarded<T>(what: &str, body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Failure::new(codes::ACL_ERROR_INTERNAL_ERROR, format!("internal error of the simulator in `{what}`")))
    })
}

/// Stores a result where the caller wants it.
///
/// # Safety
/// `place` is null or valid for one write of `T`.
pub(crate) unsafe fn store<T>(argument: &str, place: *mut T, value: T) -> Outcome<()> {
    if place.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write(value) };
    Ok(())
}

/// Refuses a null output argument before any work is done for it.
pub(crate) fn wanted<T>(argument: &str, place: *const T) -> Outcome<()> {
    if place.is_null() { Err(Failure::null(argument)) } else { Ok(()) }
}
