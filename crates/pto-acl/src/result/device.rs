//! Devices and contexts.

use std::time::Duration;

use super::milliseconds;
use crate::error::{AclError, Error};
use crate::load::Acl;
use crate::sys::*;

impl Acl {
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
}
