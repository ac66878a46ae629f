//! Each scenario runs in a process of its own: the library has one state per process, and many scenarios end theirs.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::ffi::{CStr, c_char, c_void};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::Duration;

use ascendcl::abi::*;

/// Set in a child.
const CHILD: &str = "PTO_ACLSIM_TEST_CHILD";

/// The time after which a child that should have ended is killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a scenario ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stderr: String,
}

impl Ended {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The scenario held.
    pub(crate) fn passed(&self) {
        assert_eq!((self.code, self.signal), (Some(0), None), "{}", self.stderr);
    }

    /// It died by `signal`, and said `words` on stderr.
    pub(crate) fn died(&self, signal: i32, words: &str) {
        assert_eq!(self.signal, Some(signal), "{self:?}");
        assert!(self.stderr.contains(words), "expected `{words}` in:\n{}", self.stderr);
    }
}

/// Runs `body`, the body of the test called `test`, in a child with these variables, killed after `limit`.
#[expect(clippy::disallowed_methods, reason = "a test sees whether it is the child")]
pub(crate) fn child_within(limit: Duration, test: &str, vars: &[(&str, &str)], body: impl FnOnce()) -> Ended {
    if std::env::var_os(CHILD).is_some() {
        body();
        std::process::exit(0);
    }
    let mut command = assert_cmd::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(CHILD, "1").envs(vars.iter().copied()).timeout(limit);
    Ended::new(command.output().unwrap())
}

/// The same, with patience.
pub(crate) fn child(test: &str, vars: &[(&str, &str)], body: impl FnOnce()) -> Ended {
    child_within(PATIENCE, test, vars, body)
}

/// Initializes the library and makes device 0 the thread's.
pub(crate) fn begin() {
    // SAFETY: a null path is allowed.
    assert_eq!(unsafe { aclInit(std::ptr::null()) }, 0, "{}", message());
    assert_eq!(aclrtSetDevice(0), 0, "{}", message());
}

/// Allocates device memory.
pub(crate) fn malloc(size: usize) -> *mut c_void {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: the place is valid for a write.
    assert_eq!(unsafe { aclrtMalloc(&mut pointer, size, 0) }, 0, "{}", message());
    pointer
}

/// Makes a stream.
pub(crate) fn stream() -> *mut c_void {
    let mut stream = std::ptr::null_mut();
    // SAFETY: the place is valid for a write.
    assert_eq!(unsafe { aclrtCreateStream(&mut stream) }, 0, "{}", message());
    stream
}

/// Makes an event.
pub(crate) fn event() -> *mut c_void {
    let mut event = std::ptr::null_mut();
    // SAFETY: the place is valid for a write.
    assert_eq!(unsafe { aclrtCreateEvent(&mut event) }, 0, "{}", message());
    event
}

/// This thread's last message.
pub(crate) fn message() -> String {
    let message = aclGetRecentErrMsg();
    // SAFETY: null, or a C string that is valid until the next failure of this thread.
    if message.is_null() { String::new() } else { unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned() }
}

/// Copies host bytes to the device, or back, and gives the code.
pub(crate) fn memcpy(dst: *mut c_void, src: *const c_void, count: usize, kind: i32) -> i32 {
    // SAFETY: the tests pass valid host memory, or want to see that it is refused.
    unsafe { aclrtMemcpy(dst, count, src, count, kind) }
}

/// Launches `body` as a kernel. Its error is code and reason.
pub(crate) fn launch(
    stream: *mut c_void,
    name: &CStr,
    body: impl FnOnce() -> Result<(), (i32, String)> + Send + 'static,
) -> i32 {
    type Body = Option<Box<dyn FnOnce() -> Result<(), (i32, String)> + Send>>;
    unsafe extern "C" fn run(argument: *mut c_void, reason: *mut c_char, size: usize) -> i32 {
        // SAFETY: the argument is the box made below, which `drop` frees after this.
        let body = unsafe { (*argument.cast::<Body>()).take() }.unwrap();
        match body() {
            Ok(()) => 0,
            Err((code, text)) => {
                assert!(text.len() < size);
                // SAFETY: the text and its NUL fit.
                unsafe {
                    std::ptr::copy_nonoverlapping(text.as_ptr().cast(), reason, text.len());
                    reason.add(text.len()).write(0);
                }
                code
            }
        }
    }
    unsafe extern "C" fn drop_body(argument: *mut c_void) {
        // SAFETY: the argument is the box made below, and this is called once.
        drop(unsafe { Box::from_raw(argument.cast::<Body>()) });
    }
    let argument: *mut Body = Box::into_raw(Box::new(Some(Box::new(body))));
    // SAFETY: name, functions and argument are what the contract asks for.
    unsafe { aclsimLaunchKernel(stream, name.as_ptr(), Some(run), Some(drop_body), argument.cast()) }
}

/// A device address that may go to another thread.
#[derive(Clone, Copy)]
pub(crate) struct Address(pub(crate) usize);

impl Address {
    /// The address of device memory.
    pub(crate) fn of(pointer: *mut c_void) -> Self {
        Self(pointer.expose_provenance())
    }

    /// Writes a byte there, wherever that is.
    pub(crate) fn write(self, offset: isize, value: u8) {
        let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(self.0.wrapping_add_signed(offset));
        // SAFETY: none: the tests write where the library has to notice it.
        unsafe { pointer.write_volatile(value) };
    }
}
