//! An event.

use std::time::Duration;

use super::Device;
use super::device::Raw;
use crate::error::Error;
use crate::sys::aclrtEvent;

/// A point in a stream, which keeps the time at which it was reached.
#[derive(Debug)]
pub struct Event {
    device: Device,
    raw: Raw,
}

impl Event {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let raw = Raw(device.bind()?.create_event()?);
        Ok(Self { device: device.clone(), raw })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The library's handle.
    pub fn as_raw(&self) -> aclrtEvent {
        self.raw.0
    }

    /// Waits for the last record.
    ///
    /// # Errors
    /// Its stream failed, the time is over, or the library cannot wait with a limit.
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<(), Error> {
        // SAFETY: the handle lives as long as this value.
        let result = unsafe { self.device.bind()?.synchronize_event(self.raw.0, limit) };
        self.device.note(result)
    }

    /// Whether the last record was reached.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub fn is_reached(&self) -> Result<bool, Error> {
        // SAFETY: the handle lives as long as this value.
        unsafe { self.device.bind()?.is_event_reached(self.raw.0) }
    }

    /// The time from this event to a later one. Both have to be reached.
    ///
    /// # Errors
    /// One was not reached, they come in the other order, or they are of two devices.
    pub fn elapsed_until(&self, end: &Self) -> Result<Duration, Error> {
        if !self.device.is_same(&end.device) {
            return Err(Error::ForeignHandle { what: "end event" });
        }
        // SAFETY: both handles live.
        Ok(unsafe { self.device.bind()?.elapsed(self.raw.0, end.raw.0) }?)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: this value owned the handle, and nobody can use it any more.
        self.device.release(|acl| unsafe { acl.destroy_event(self.raw.0) });
    }
}
