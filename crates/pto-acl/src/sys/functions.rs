//! The table of function pointers.

use std::ffi::{c_char, c_int, c_void};

use libloading::os::unix::Library;

use super::*;

/// A function of the table, for the test against the headers.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// Its name.
    pub name: &'static str,
    /// Whether a library without it cannot be used.
    pub required: bool,
    /// The type of a pointer to it, as C++ spells it.
    pub spell: fn() -> String,
}

macro_rules! functions {
    (
        required { $($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+ }
        optional { $($(#[$o_doc:meta])* fn $o_name:ident($($o_argument:ident: $o_type:ty),*) -> $o_result:ty;)+ }
    ) => {
        /// The functions of a loaded library. Those that older libraries lack are optional.
        #[derive(Debug, Clone, Copy)]
        pub struct Functions {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($type),*) -> $result,)+
            $($(#[$o_doc])* pub $o_name: Option<unsafe extern "C" fn($($o_type),*) -> $o_result>,)+
        }

        /// All functions of the table.
        pub const SIGNATURES: &[Signature] = &[
            $(Signature {
                name: stringify!($name),
                required: true,
                spell: <unsafe extern "C" fn($($type),*) -> $result as CType>::spell,
            },)+
            $(Signature {
                name: stringify!($o_name),
                required: false,
                spell: <unsafe extern "C" fn($($o_type),*) -> $o_result as CType>::spell,
            },)+
        ];

        impl Functions {
            /// Looks all functions up. The error has the name of a required one that is missing.
            pub(crate) fn resolve(library: &Library) -> Result<Self, (&'static str, libloading::Error)> {
                Ok(Self {
                    // SAFETY: the type is that of the headers, which a test compiles against; the library is never
                    // closed, so the pointer stays valid.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|error| (stringify!($name), error))?,)+
                    // SAFETY: as above.
                    $($o_name: unsafe { library.get(concat!(stringify!($o_name), "\0").as_bytes()) }
                        .ok()
                        .map(|symbol| *symbol),)+
                })
            }
        }
    };
}

functions! {
    required {
        /// Initializes the library; the path of a configuration file may be null.
        fn aclInit(config_path: *const c_char) -> aclError;
        /// Ends the use of the library.
        fn aclFinalize() -> aclError;
        /// The message of this thread's last failure, or null.
        fn aclGetRecentErrMsg() -> *const c_char;
        /// The number of devices.
        fn aclrtGetDeviceCount(count: *mut u32) -> aclError;
        /// Makes a device the thread's.
        fn aclrtSetDevice(device: c_int) -> aclError;
        /// Ends everything on a device.
        fn aclrtResetDevice(device: c_int) -> aclError;
        /// The thread's context.
        fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;
        /// Makes a context the thread's.
        fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
        /// Waits for all streams of the thread's device.
        fn aclrtSynchronizeDevice() -> aclError;
        /// Makes a stream.
        fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
        /// Ends a stream after its tasks.
        fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
        /// Waits for a stream.
        fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
        /// Makes a stream wait for an event.
        fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
        /// Makes an event.
        fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError;
        /// Destroys an event.
        fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
        /// Records an event on a stream.
        fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
        /// Waits for an event.
        fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError;
        /// Milliseconds between two events.
        fn aclrtEventElapsedTime(ms: *mut f32, start: aclrtEvent, end: aclrtEvent) -> aclError;
        /// Allocates device memory.
        fn aclrtMalloc(pointer: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
        /// Frees device memory.
        fn aclrtFree(pointer: *mut c_void) -> aclError;
        /// Allocates page-locked host memory.
        fn aclrtMallocHost(pointer: *mut *mut c_void, size: usize) -> aclError;
        /// Frees page-locked host memory.
        fn aclrtFreeHost(pointer: *mut c_void) -> aclError;
        /// Copies.
        fn aclrtMemcpy(dst: *mut c_void, dst_max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
        /// Copies on a stream.
        fn aclrtMemcpyAsync(dst: *mut c_void, dst_max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
        /// Fills device memory with a byte.
        fn aclrtMemset(pointer: *mut c_void, max: usize, value: c_int, count: usize) -> aclError;
        /// Fills device memory with a byte, on a stream.
        fn aclrtMemsetAsync(pointer: *mut c_void, max: usize, value: c_int, count: usize, stream: aclrtStream) -> aclError;
        /// Free and total memory of the thread's device.
        fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;
    }
    optional {
        /// The name of the SoC.
        fn aclrtGetSocName() -> *const c_char;
        /// The version of the interface.
        fn aclrtGetVersion(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> aclError;
        /// Core counts, in older libraries.
        fn aclGetDeviceCapability(device: u32, info: aclDeviceInfo, value: *mut i64) -> aclError;
        /// Core counts, in newer libraries.
        fn aclrtGetDeviceInfo(device: u32, attr: aclrtDevAttr, value: *mut i64) -> aclError;
        /// Ends everything on a device without waiting.
        fn aclrtResetDeviceForce(device: c_int) -> aclError;
        /// Waits for all streams of the thread's device; -1 ms is no limit.
        fn aclrtSynchronizeDeviceWithTimeout(timeout: c_int) -> aclError;
        /// Waits for a stream; -1 ms is no limit.
        fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, timeout: c_int) -> aclError;
        /// Waits for an event; -1 ms is no limit.
        fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, timeout: c_int) -> aclError;
        /// Ends a stream without waiting.
        fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError;
        /// Whether a stream is done.
        fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
        /// Whether an event was reached.
        fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError;
        /// Makes an event with flags.
        fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
        /// Calls a host function when the stream gets to it.
        fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, argument: *mut c_void) -> aclError;
    }
}
