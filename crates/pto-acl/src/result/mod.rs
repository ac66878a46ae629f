//! The middle layer: each function returns a [`Result`], and out-parameters become values. Nothing owns anything yet.

mod device;
mod event;
mod memory;
mod stream;

use std::ffi::{CStr, c_char, c_int};
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
