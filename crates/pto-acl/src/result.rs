//! The middle layer: each function returns a [`Result`], and out-parameters become values. Nothing owns anything yet.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::error::{AclError, Error};
use crate::load::Acl;
use crate::sys::*;

/// Device memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemInfo {
    /// Bytes not in use.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

/// The cores of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreCounts {
    /// Cube cores.
    pub cube: u32,
    /// Vector cores.
    pub vector: u32,
}

impl Acl {
    /// Makes an error code a result, with the library's own message.
    fn check(&self, call: &'static str, code: aclError) -> Result<(), AclError> {
        if code == ACL_SUCCESS { Ok(()) } else { Err(AclError::new(call, code, self.recent_message())) }
    }

    /// The message of this thread's last failure.
    pub fn recent_message(&self) -> Option<String> {
        // SAFETY: takes nothing, and can be called at any time.
        let message = unsafe { (self.sys().aclGetRecentErrMsg)() };
        // SAFETY: null, or a C string that is valid until the next call of this thread.
        unsafe { text(message) }.filter(|message| !message.trim().is_empty())
    }

    /// An optional function, or the error that names it.
    pub(crate) fn optional<T>(&self, function: &'static str, pointer: Option<T>) -> Result<T, Error> {
        pointer.ok_or_else(|| Error::Unsupported { library: self.path().to_owned(), function })
    }

    /// Runs `call` with room for its result.
    fn output<T>(&self, name: &'static str, call: impl FnOnce(*mut T) -> aclError) -> Result<T, AclError> {
        let mut place = MaybeUninit::<T>::zeroed();
        self.check(name, call(place.as_mut_ptr()))?;
        // SAFETY: `T` is an integer, a float or a pointer here, for which zero is a value; a successful call wrote one.
        Ok(unsafe { place.assume_init() })
    }

    /// `aclInit` without a configuration file.
    ///
    /// # Errors
    /// The library's answer.
    pub fn init(&self) -> Result<(), AclError> {
        // SAFETY: a null path is allowed.
        self.check("aclInit", unsafe { (self.sys().aclInit)(std::ptr::null()) })
    }

    /// `aclFinalize`.
    ///
    /// # Safety
    /// Nobody in this process uses the library any more.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn finalize(&self) -> Result<(), AclError> {
        // SAFETY: the caller vouches for it.
        self.check("aclFinalize", unsafe { (self.sys().aclFinalize)() })
    }

    /// The number of devices.
    ///
    /// # Errors
    /// The library's answer.
    pub fn device_count(&self) -> Result<u32, AclError> {
        // SAFETY: the place is valid for a write.
        self.output("aclrtGetDeviceCount", |place| unsafe { (self.sys().aclrtGetDeviceCount)(place) })
    }

    /// The name of the SoC, for example `Ascend910B2`. A simulator may give the name of the chip it stands for.
    ///
    /// # Errors
    /// The library lacks the function, or knows no name.
    pub fn soc_name(&self) -> Result<String, Error> {
        let get = self.optional("aclrtGetSocName", self.sys().aclrtGetSocName)?;
        // SAFETY: takes nothing; the result is null or a C string that stays valid.
        let name = unsafe { text(get()) };
        name.ok_or_else(|| Error::Call(AclError::new("aclrtGetSocName", -1, self.recent_message())))
    }

    /// The version of the interface: major, minor, patch.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub fn version(&self) -> Result<[i32; 3], Error> {
        let get = self.optional("aclrtGetVersion", self.sys().aclrtGetVersion)?;
        let mut version = [0; 3];
        let [major, minor, patch] = &mut version;
        // SAFETY: the three places are valid for writes.
        self.check("aclrtGetVersion", unsafe { get(major, minor, patch) })?;
        Ok(version)
    }

    /// The cores of a device, from whichever function the library has.
    ///
    /// # Errors
    /// The library has neither function, or its answer.
    pub fn core_counts(&self, device: u32) -> Result<CoreCounts, Error> {
        let count = |value: i64| u32::try_from(value).unwrap_or(0);
        if let Some(get) = self.sys().aclrtGetDeviceInfo {
            // SAFETY: the place is valid for a write.
            let read = |attr| self.output("aclrtGetDeviceInfo", |place| unsafe { get(device, attr, place) });
            let (cube, vector) = (read(ACL_DEV_ATTR_CUBE_CORE_NUM)?, read(ACL_DEV_ATTR_VECTOR_CORE_NUM)?);
            return Ok(CoreCounts { cube: count(cube), vector: count(vector) });
        }
        let get = self.optional("aclGetDeviceCapability", self.sys().aclGetDeviceCapability)?;
        // SAFETY: the place is valid for a write.
        let read = |info| self.output("aclGetDeviceCapability", |place| unsafe { get(device, info, place) });
        let (cube, vector) = (read(ACL_DEVICE_INFO_AI_CORE_NUM)?, read(ACL_DEVICE_INFO_VECTOR_CORE_NUM)?);
        Ok(CoreCounts { cube: count(cube), vector: count(vector) })
    }

    /// Makes a device the calling thread's.
    ///
    /// # Errors
    /// The library's answer.
    pub fn set_device(&self, device: i32) -> Result<(), AclError> {
        // SAFETY: takes a number.
        self.check("aclrtSetDevice", unsafe { (self.sys().aclrtSetDevice)(device) })
    }

    /// Ends everything on a device, after its streams.
    ///
    /// # Safety
    /// Nothing on the device is used any more.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn reset_device(&self, device: i32) -> Result<(), AclError> {
        // SAFETY: the caller vouches for it.
        self.check("aclrtResetDevice", unsafe { (self.sys().aclrtResetDevice)(device) })
    }

    /// Ends everything on a device without waiting.
    ///
    /// # Safety
    /// Nothing on the device is used any more.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub unsafe fn reset_device_force(&self, device: i32) -> Result<(), Error> {
        let reset = self.optional("aclrtResetDeviceForce", self.sys().aclrtResetDeviceForce)?;
        // SAFETY: the caller vouches for it.
        Ok(self.check("aclrtResetDeviceForce", unsafe { reset(device) })?)
    }

    /// The calling thread's context.
    ///
    /// # Errors
    /// The library's answer.
    pub fn current_context(&self) -> Result<aclrtContext, AclError> {
        // SAFETY: the place is valid for a write.
        self.output("aclrtGetCurrentContext", |place| unsafe { (self.sys().aclrtGetCurrentContext)(place) })
    }

    /// Makes a context the calling thread's.
    ///
    /// # Safety
    /// `context` is live.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn set_current_context(&self, context: aclrtContext) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handle.
        self.check("aclrtSetCurrentContext", unsafe { (self.sys().aclrtSetCurrentContext)(context) })
    }

    /// Waits for all streams of the thread's device. A limit needs a library that has it.
    ///
    /// # Errors
    /// A task failed, the time is over, or the library lacks the function.
    pub fn synchronize_device(&self, limit: Option<Duration>) -> Result<(), Error> {
        let Some(limit) = limit else {
            // SAFETY: takes nothing.
            return Ok(self.check("aclrtSynchronizeDevice", unsafe { (self.sys().aclrtSynchronizeDevice)() })?);
        };
        let name = "aclrtSynchronizeDeviceWithTimeout";
        let wait = self.optional(name, self.sys().aclrtSynchronizeDeviceWithTimeout)?;
        // SAFETY: takes a number.
        Ok(self.check(name, unsafe { wait(milliseconds(limit)) })?)
    }

    /// Makes a stream.
    ///
    /// # Errors
    /// The library's answer.
    pub fn create_stream(&self) -> Result<aclrtStream, AclError> {
        // SAFETY: the place is valid for a write.
        self.output("aclrtCreateStream", |place| unsafe { (self.sys().aclrtCreateStream)(place) })
    }

    /// Ends a stream after its tasks.
    ///
    /// # Safety
    /// `stream` is live and not used any more.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn destroy_stream(&self, stream: aclrtStream) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handle.
        self.check("aclrtDestroyStream", unsafe { (self.sys().aclrtDestroyStream)(stream) })
    }

    /// Ends a stream without waiting.
    ///
    /// # Safety
    /// `stream` is live and not used any more.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub unsafe fn destroy_stream_force(&self, stream: aclrtStream) -> Result<(), Error> {
        let destroy = self.optional("aclrtDestroyStreamForce", self.sys().aclrtDestroyStreamForce)?;
        // SAFETY: the caller vouches for the handle.
        Ok(self.check("aclrtDestroyStreamForce", unsafe { destroy(stream) })?)
    }

    /// Waits for a stream without a limit.
    ///
    /// # Safety
    /// `stream` is live.
    ///
    /// # Errors
    /// A task of the stream failed.
    pub unsafe fn synchronize_stream(&self, stream: aclrtStream) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handle.
        self.check("aclrtSynchronizeStream", unsafe { (self.sys().aclrtSynchronizeStream)(stream) })
    }

    /// Waits for a stream for at most `limit`.
    ///
    /// # Safety
    /// `stream` is live.
    ///
    /// # Errors
    /// A task of the stream failed, the time is over (`507046`), or the library lacks the function.
    pub unsafe fn synchronize_stream_for(&self, stream: aclrtStream, limit: Duration) -> Result<(), Error> {
        let name = "aclrtSynchronizeStreamWithTimeout";
        let wait = self.optional(name, self.sys().aclrtSynchronizeStreamWithTimeout)?;
        // SAFETY: the caller vouches for the handle.
        Ok(self.check(name, unsafe { wait(stream, milliseconds(limit)) })?)
    }

    /// Whether all tasks of a stream are done.
    ///
    /// # Safety
    /// `stream` is live.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub unsafe fn is_stream_done(&self, stream: aclrtStream) -> Result<bool, Error> {
        let query = self.optional("aclrtStreamQuery", self.sys().aclrtStreamQuery)?;
        // SAFETY: the caller vouches for the handle; the place is valid for a write.
        let status = self.output("aclrtStreamQuery", |place| unsafe { query(stream, place) })?;
        Ok(status == ACL_STREAM_STATUS_COMPLETE)
    }

    /// Makes a stream wait for the last record of an event.
    ///
    /// # Safety
    /// Both are live.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn stream_wait_event(&self, stream: aclrtStream, event: aclrtEvent) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handles.
        self.check("aclrtStreamWaitEvent", unsafe { (self.sys().aclrtStreamWaitEvent)(stream, event) })
    }

    /// Calls a host function when a stream gets to it.
    ///
    /// # Safety
    /// `stream` is live; `function` can be called once with `argument`, from another thread.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub unsafe fn launch_host_func(
        &self,
        stream: aclrtStream,
        function: aclrtHostFunc,
        argument: *mut c_void,
    ) -> Result<(), Error> {
        let launch = self.optional("aclrtLaunchHostFunc", self.sys().aclrtLaunchHostFunc)?;
        // SAFETY: the caller vouches for all three.
        Ok(self.check("aclrtLaunchHostFunc", unsafe { launch(stream, function, argument) })?)
    }

    /// Makes an event that keeps the time.
    ///
    /// # Errors
    /// The library's answer.
    pub fn create_event(&self) -> Result<aclrtEvent, AclError> {
        // SAFETY: the place is valid for a write.
        self.output("aclrtCreateEvent", |place| unsafe { (self.sys().aclrtCreateEvent)(place) })
    }

    /// Destroys an event.
    ///
    /// # Safety
    /// `event` is live and not used any more.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn destroy_event(&self, event: aclrtEvent) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handle.
        self.check("aclrtDestroyEvent", unsafe { (self.sys().aclrtDestroyEvent)(event) })
    }

    /// Records an event on a stream.
    ///
    /// # Safety
    /// Both are live.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn record_event(&self, event: aclrtEvent, stream: aclrtStream) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the handles.
        self.check("aclrtRecordEvent", unsafe { (self.sys().aclrtRecordEvent)(event, stream) })
    }

    /// Whether the last record of an event was reached.
    ///
    /// # Safety
    /// `event` is live.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub unsafe fn is_event_reached(&self, event: aclrtEvent) -> Result<bool, Error> {
        let query = self.optional("aclrtQueryEventStatus", self.sys().aclrtQueryEventStatus)?;
        // SAFETY: the caller vouches for the handle; the place is valid for a write.
        let status = self.output("aclrtQueryEventStatus", |place| unsafe { query(event, place) })?;
        Ok(status == ACL_EVENT_RECORDED_STATUS_COMPLETE)
    }

    /// Waits for the last record of an event. A limit needs a library that has it.
    ///
    /// # Safety
    /// `event` is live.
    ///
    /// # Errors
    /// Its stream failed, the time is over (`507047`), or the library lacks the function.
    pub unsafe fn synchronize_event(&self, event: aclrtEvent, limit: Option<Duration>) -> Result<(), Error> {
        let Some(limit) = limit else {
            // SAFETY: the caller vouches for the handle.
            return Ok(self.check("aclrtSynchronizeEvent", unsafe { (self.sys().aclrtSynchronizeEvent)(event) })?);
        };
        let name = "aclrtSynchronizeEventWithTimeout";
        let wait = self.optional(name, self.sys().aclrtSynchronizeEventWithTimeout)?;
        // SAFETY: the caller vouches for the handle.
        Ok(self.check(name, unsafe { wait(event, milliseconds(limit)) })?)
    }

    /// The time between two events.
    ///
    /// # Safety
    /// Both are live.
    ///
    /// # Errors
    /// One was not reached, or they come in the other order.
    pub unsafe fn elapsed(&self, start: aclrtEvent, end: aclrtEvent) -> Result<Duration, AclError> {
        let name = "aclrtEventElapsedTime";
        // SAFETY: the caller vouches for the handles; the place is valid for a write.
        let ms = self.output(name, |place| unsafe { (self.sys().aclrtEventElapsedTime)(place, start, end) })?;
        Ok(Duration::try_from_secs_f32(ms / 1e3).unwrap_or_default())
    }

    /// Allocates device memory.
    ///
    /// # Errors
    /// No memory is left, or `size` is 0.
    pub fn malloc(&self, size: usize, policy: aclrtMemMallocPolicy) -> Result<*mut c_void, AclError> {
        // SAFETY: the place is valid for a write.
        self.output("aclrtMalloc", |place| unsafe { (self.sys().aclrtMalloc)(place, size, policy) })
    }

    /// Frees device memory.
    ///
    /// # Safety
    /// `pointer` is live device memory that is not used any more.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn free(&self, pointer: *mut c_void) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the pointer.
        self.check("aclrtFree", unsafe { (self.sys().aclrtFree)(pointer) })
    }

    /// Copies `count` bytes, and returns when it is done.
    ///
    /// # Safety
    /// Both pointers are what `kind` says, and valid for `count` bytes.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn memcpy(
        &self,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
    ) -> Result<(), AclError> {
        // SAFETY: the caller vouches for both sides.
        self.check("aclrtMemcpy", unsafe { (self.sys().aclrtMemcpy)(dst, count, src, count, kind) })
    }

    /// Copies `count` bytes when the stream gets to it.
    ///
    /// # Safety
    /// Both pointers are what `kind` says, and stay valid for `count` bytes until the stream was synchronized.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn memcpy_async(
        &self,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
        stream: aclrtStream,
    ) -> Result<(), AclError> {
        // SAFETY: the caller vouches for both sides and the stream.
        let code = unsafe { (self.sys().aclrtMemcpyAsync)(dst, count, src, count, kind, stream) };
        self.check("aclrtMemcpyAsync", code)
    }

    /// Fills `count` bytes of device memory.
    ///
    /// # Safety
    /// `pointer` is device memory, valid for `count` bytes.
    ///
    /// # Errors
    /// The library's answer.
    pub unsafe fn memset(&self, pointer: *mut c_void, value: u8, count: usize) -> Result<(), AclError> {
        // SAFETY: the caller vouches for the memory.
        self.check("aclrtMemset", unsafe { (self.sys().aclrtMemset)(pointer, count, value.into(), count) })
    }

    /// Memory of the thread's device.
    ///
    /// # Errors
    /// The library's answer.
    pub fn mem_info(&self) -> Result<MemInfo, AclError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both places are valid for writes.
        let code = unsafe { (self.sys().aclrtGetMemInfo)(ACL_HBM_MEM, &mut free, &mut total) };
        self.check("aclrtGetMemInfo", code)?;
        Ok(MemInfo { free, total })
    }
}

/// A limit as ACL takes it: whole milliseconds, at least one, so that a short limit is not "at once".
fn milliseconds(limit: Duration) -> c_int {
    c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX).max(1)
}

/// # Safety
/// `text` is null or a C string.
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: not null, and the caller vouches for the rest.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
