//! What a worker does to its own process.

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsRawFd, IntoRawFd};

use rustix::process::{Resource, Rlimit, setrlimit};

/// Limits this process, and makes what a kernel prints survive its crash.
pub(super) fn prepare(memory_limit: Option<u64>) {
    leave_no_core();
    if let Some(bytes) = memory_limit {
        // A kernel that allocates without end must meet its own limit before the machine's.
        limit(Resource::As, bytes);
    }
    buffer_lines();
}

/// A core file of gigabytes helps nobody who did not ask for it.
pub(super) fn leave_no_core() {
    limit(Resource::Core, 0);
}

/// Handlers that a kernel installs run on its own threads, not on the calling one.
pub(super) fn take_no_signals() {
    // SAFETY: a signal set is plain data, which `sigfillset` makes valid; the pointers lead to values of this frame.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

fn limit(resource: Resource, value: u64) {
    // Refused only where the hard limit is lower already.
    let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
}

/// C's stdout is a pipe here and would keep 4 KiB to itself, which a process that dies does not hand on: the very line
/// that says where the kernel was would be lost.
#[cfg(target_os = "linux")]
fn buffer_lines() {
    unsafe extern "C" {
        static stdout: *mut c_void;
        fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, size: usize) -> c_int;
    }
    /// `_IOLBF` of glibc and musl.
    const LINES: c_int = 1;
    // SAFETY: the C library's own stream, on which nothing has been done yet; it allocates the buffer itself.
    unsafe { setvbuf(stdout, std::ptr::null_mut(), LINES, 0) };
}

#[cfg(not(target_os = "linux"))]
fn buffer_lines() {}

/// Puts something in the place of standard descriptors that a kernel has closed. Else the next file that is opened takes
/// their numbers, and what a thread of the kernel still prints lands in it.
pub(super) fn occupy_standard_descriptors() {
    const LAST: i32 = 2;
    while let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        if null.as_raw_fd() > LAST {
            break;
        }
        let _ = null.into_raw_fd();
    }
}

/// Ends the process without running anything that a kernel or a library has registered for its end.
pub(super) fn end(code: i32) -> ! {
    // SAFETY: no state of this process outlives it; what is to be kept has been written.
    unsafe { libc::_exit(code) }
}
