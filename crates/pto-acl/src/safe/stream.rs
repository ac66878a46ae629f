//! A stream.

use std::time::{Duration, Instant};

use super::device::Raw;
use super::{Device, Event};
use crate::error::{AclError, Error};
use crate::sys::aclrtStream;

/// How often a library without a limit for its wait is asked whether it is done.
const POLL: Duration = Duration::from_micros(200);

/// A stream: what is given to it runs in order, while the host goes on. Dropping it waits for it, unless a wait on its
/// device ran out of time.
#[derive(Debug)]
pub struct Stream {
    device: Device,
    raw: Raw,
}

impl Stream {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let raw = Raw(device.bind()?.create_stream()?);
        Ok(Self { device: device.clone(), raw })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The library's handle, for a launcher. Its device must be the thread's: [`Stream::bind`].
    pub fn as_raw(&self) -> aclrtStream {
        self.raw.0
    }

    /// Makes the stream's device the calling thread's, for calls that go to the library directly.
    ///
    /// # Errors
    /// The library's answer.
    pub fn bind(&self) -> Result<(), Error> {
        self.device.bind().map(drop)
    }

    /// Waits for the stream, for at most `limit`.
    ///
    /// # Errors
    /// A task failed, or the time is over ([`Error::is_timeout`]).
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<(), Error> {
        let acl = self.device.bind()?;
        // SAFETY: the handle lives as long as this value.
        let result = unsafe {
            match limit {
                None => acl.synchronize_stream(self.raw.0).map_err(Error::from),
                Some(limit) if acl.sys().aclrtSynchronizeStreamWithTimeout.is_some() => {
                    acl.synchronize_stream_for(self.raw.0, limit)
                }
                Some(limit) => self.poll(limit),
            }
        };
        self.device.note(result)
    }

    fn poll(&self, limit: Duration) -> Result<(), Error> {
        let deadline = Instant::now().checked_add(limit); // none: so far away that it never comes
        while !self.is_done()? {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Error::Timeout { what: "the stream", limit });
            }
            std::thread::sleep(POLL);
        }
        self.synchronize(None)
    }

    /// Whether everything given to the stream is done.
    ///
    /// # Errors
    /// The library lacks the function, or its answer.
    pub fn is_done(&self) -> Result<bool, Error> {
        // SAFETY: the handle lives as long as this value.
        unsafe { self.device.bind()?.is_stream_done(self.raw.0) }
    }

    /// Records an event here.
    ///
    /// # Errors
    /// The event is another device's, or the library's answer.
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        let acl = self.with(event)?;
        // SAFETY: both handles live.
        Ok(unsafe { acl.record_event(event.as_raw(), self.raw.0) }?)
    }

    /// Makes what follows wait for the last record of an event.
    ///
    /// # Errors
    /// The event is another device's, or the library's answer.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        let acl = self.with(event)?;
        // SAFETY: both handles live.
        Ok(unsafe { acl.stream_wait_event(self.raw.0, event.as_raw()) }?)
    }

    fn with(&self, event: &Event) -> Result<&crate::Acl, Error> {
        if !self.device.is_same(event.device()) {
            return Err(Error::ForeignHandle { what: "event" });
        }
        self.device.bind()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let stuck = self.device.is_stuck();
        self.device.release(|acl| {
            // SAFETY: this value owned the handle, and nobody can use it any more.
            unsafe {
                if stuck {
                    acl.destroy_stream_force(self.raw.0).or_else(only_calls)
                } else {
                    acl.destroy_stream(self.raw.0)
                }
            }
        });
    }
}

/// An older library can only wait, possibly for ever: the stream is left to the end of the process.
fn only_calls(error: Error) -> Result<(), AclError> {
    match error {
        Error::Call(error) => Err(error),
        _ => Ok(()),
    }
}
