//! Streams.

use std::ffi::c_void;
use std::time::Duration;

use super::milliseconds;
use crate::error::{AclError, Error};
use crate::load::Acl;
use crate::sys::*;

impl Acl {
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
}
