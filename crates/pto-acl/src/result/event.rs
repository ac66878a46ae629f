//! Events.

use std::time::Duration;

use super::milliseconds;
use crate::error::{AclError, Error};
use crate::load::Acl;
use crate::sys::*;

impl Acl {
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
}
