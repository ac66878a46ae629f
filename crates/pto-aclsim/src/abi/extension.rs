//! The symbols beyond ACL, for a runtime that runs kernels on the CPU. Their contract is `include/aclsim.h`.

use std::ffi::{CStr, c_char, c_void};

use super::AclError;
use crate::call::call;
use crate::failure::{Failure, Outcome};
use crate::memory::{self, KernelAccess, registry};
use crate::runtime;
use crate::stream::Task;

/// Runs a kernel: gives an ACL error code, and may write a reason of so many bytes, the NUL included.
pub type RunKernel = unsafe extern "C" fn(argument: *mut c_void, reason: *mut c_char, reason_size: usize) -> AclError;
/// Drops a kernel's argument.
pub type DropKernel = unsafe extern "C" fn(argument: *mut c_void);

/// Room for a reason, in bytes.
const REASON: usize = 2048;

struct Kernel {
    name: String,
    run: RunKernel,
    drop: Option<DropKernel>,
    argument: *mut c_void,
}

// SAFETY: the caller of `aclsimLaunchKernel` gives the argument to the stream's thread.
unsafe impl Send for Kernel {}

impl Drop for Kernel {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: the caller vouches for the function, and this is its one call.
            unsafe { drop(self.argument) };
        }
    }
}

impl Task for Kernel {
    fn label(&self) -> String {
        format!("kernel `{}`", self.name)
    }

    fn run(self: Box<Self>) -> Outcome<()> {
        let access = KernelAccess::open();
        let mut reason = [0u8; REASON];
        // SAFETY: the caller vouches for function and argument; the buffer has the size that is said.
        let code = unsafe { (self.run)(self.argument, reason.as_mut_ptr().cast(), REASON) };
        let outcome = match code {
            0 => access.check(&self.name),
            code => Err(Failure::new(code, self.message(code, &reason))),
        };
        if outcome.is_err() {
            access.abandon();
        }
        outcome
    }
}

impl Kernel {
    fn message(&self, code: AclError, reason: &[u8]) -> String {
        let reason = CStr::from_bytes_until_nul(reason).map(CStr::to_string_lossy).unwrap_or_default();
        if reason.is_empty() { format!("kernel `{}` failed with {code}", self.name) } else { reason.into_owned() }
    }
}

/// Enqueues a kernel. `run` is called once on the stream's thread with device memory open, unless an earlier task of the
/// stream failed; `drop` is called once in any case, also when this call fails.
///
/// # Safety
/// `name` is null or a C string; `run` and `drop` can be called with `argument` from another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsimLaunchKernel(
    stream: *mut c_void,
    name: *const c_char,
    run: Option<RunKernel>,
    drop: Option<DropKernel>,
    argument: *mut c_void,
) -> AclError {
    let name = if name.is_null() {
        "unnamed".to_owned()
    } else {
        // SAFETY: the caller vouches for the string.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    };
    // A kernel without `run` still has to drop its argument.
    unsafe extern "C" fn nothing(_: *mut c_void, _: *mut c_char, _: usize) -> AclError {
        0
    }
    let kernel = Kernel { name, run: run.unwrap_or(nothing), drop, argument };
    call("aclsimLaunchKernel", move || {
        if run.is_none() {
            return Err(Failure::null("run"));
        }
        runtime::working_stream(stream.addr())?.push(kernel);
        Ok(())
    })
}

/// 1 when all of `bytes` bytes from `pointer` lie inside one live device buffer, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn aclsimIsDeviceRange(pointer: *const c_void, bytes: usize) -> i32 {
    i32::from(memory::is_device_range(pointer.addr(), bytes))
}

/// Describes an address for people, as a C string of at most `text_size` bytes.
///
/// # Safety
/// `text` is null or valid for writes of `text_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsimDescribe(pointer: *const c_void, text: *mut c_char, text_size: usize) {
    if text.is_null() || text_size == 0 {
        return;
    }
    let line = registry::describe(pointer.addr());
    let length = line.as_bytes().len().min(text_size - 1);
    // SAFETY: the caller vouches for `text_size` bytes, and `length` and the NUL fit in them.
    unsafe {
        std::ptr::copy_nonoverlapping(line.as_bytes().as_ptr().cast(), text, length);
        text.add(length).write(0);
    }
}
