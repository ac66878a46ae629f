//! An open device.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::{DeviceBuffer, Event, Stream};
use crate::error::{AclError, Error};
use crate::load::{Acl, Initialized};
use crate::result::{CoreCounts, MemInfo};
use crate::sys::{ACL_ERROR_REPEAT_INITIALIZE, aclrtContext};

/// The devices that are open, by index.
pub(crate) type DeviceRegistry = HashMap<u32, Weak<Inner>>;

/// An open device. Clones are the same device; the last handle that goes resets it.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    acl: Arc<Acl>,
    index: u32,
    /// The device's primary context.
    context: Context,
    /// A wait ran out of time: something may run for ever, so nothing is waited for any more.
    stuck: AtomicBool,
}

/// A context handle, which any thread may use.
struct Context(aclrtContext);

// SAFETY: a context is made current by whichever thread uses it; ACL allows that for every thread of the process.
unsafe impl Send for Context {}
// SAFETY: as above: the handle itself is only a value.
unsafe impl Sync for Context {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner) // all that is locked here is valid at every moment
}

impl Device {
    /// Opens a device, counted from 0. The first call for a library initializes it. A device that is open already is
    /// shared.
    ///
    /// # Errors
    /// The library's answer, for example that there is no such device.
    pub fn open(acl: &Arc<Acl>, index: u32) -> Result<Self, Error> {
        acl.take_unreported()?;
        acl.ensure_initialized()?;
        let mut devices = lock(&acl.devices);
        if let Some(inner) = devices.get(&index).and_then(Weak::upgrade) {
            let device = Self { inner };
            device.bind()?;
            return Ok(device);
        }
        acl.set_device(i32::try_from(index).unwrap_or(i32::MAX))?;
        let context = Context(acl.current_context()?);
        let inner = Arc::new(Inner { acl: Arc::clone(acl), index, context, stuck: AtomicBool::new(false) });
        devices.insert(index, Arc::downgrade(&inner));
        Ok(Self { inner })
    }

    /// The library.
    pub fn acl(&self) -> &Arc<Acl> {
        &self.inner.acl
    }

    /// Its number, counted from 0.
    pub fn index(&self) -> u32 {
        self.inner.index
    }

    /// Reports an earlier failed release, then makes the device the calling thread's.
    pub(crate) fn bind(&self) -> Result<&Acl, Error> {
        self.inner.acl.take_unreported()?;
        self.inner.bind()?;
        Ok(&self.inner.acl)
    }

    /// For `Drop`: runs `release` on the device, and keeps its error for the next call.
    pub(crate) fn release(&self, release: impl FnOnce(&Acl) -> Result<(), AclError>) {
        let acl = &self.inner.acl;
        if let Err(error) = self.inner.bind().and_then(|()| release(acl)) {
            acl.keep_unreported(error);
        }
    }

    /// Whether both are the same device of the same library.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Remembers a wait that ran out of time, so that nothing waits for its work again.
    pub(crate) fn note<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if result.as_ref().is_err_and(Error::is_timeout) {
            self.inner.stuck.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Whether a wait on this device ran out of time.
    pub fn is_stuck(&self) -> bool {
        self.inner.stuck.load(Ordering::Relaxed)
    }

    /// Makes a stream.
    ///
    /// # Errors
    /// The library's answer.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// Makes an event.
    ///
    /// # Errors
    /// The library's answer.
    pub fn event(&self) -> Result<Event, Error> {
        Event::new(self)
    }

    /// Allocates `bytes` bytes of device memory. What is in them is not known.
    ///
    /// # Errors
    /// No memory is left.
    pub fn alloc(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        DeviceBuffer::new(self, bytes)
    }

    /// Allocates device memory with these bytes in it.
    ///
    /// # Errors
    /// No memory is left.
    pub fn upload(&self, bytes: &[u8]) -> Result<DeviceBuffer, Error> {
        let mut buffer = self.alloc(bytes.len())?;
        buffer.copy_from_host(bytes)?;
        Ok(buffer)
    }

    /// The name of the SoC.
    ///
    /// # Errors
    /// The library lacks the function, or knows no name.
    pub fn soc_name(&self) -> Result<String, Error> {
        self.bind()?.soc_name()
    }

    /// Free and total memory.
    ///
    /// # Errors
    /// The library's answer.
    pub fn mem_info(&self) -> Result<MemInfo, Error> {
        Ok(self.bind()?.mem_info()?)
    }

    /// The cores.
    ///
    /// # Errors
    /// The library cannot say.
    pub fn core_counts(&self) -> Result<CoreCounts, Error> {
        self.bind()?.core_counts(self.inner.index)
    }

    /// Waits for all streams of the device.
    ///
    /// # Errors
    /// A task failed, or the time is over.
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<(), Error> {
        let result = self.bind()?.synchronize_device(limit);
        self.note(result)
    }
}

impl Inner {
    fn bind(&self) -> Result<(), AclError> {
        // SAFETY: the context is the device's own, which lives until this handle resets the device.
        unsafe { self.acl.set_current_context(self.context.0) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Held over the reset, so that nobody opens the device in between and has it reset under them.
        let mut devices = lock(&self.acl.devices);
        if devices.get(&self.index).is_some_and(|other| other.strong_count() > 0) {
            return;
        }
        devices.remove(&self.index);
        let index = i32::try_from(self.index).unwrap_or(i32::MAX);
        // SAFETY: all handles of the device kept this one alive, so none is left.
        let result = unsafe {
            if self.stuck.load(Ordering::Relaxed) {
                match self.acl.reset_device_force(index) {
                    Err(Error::Call(error)) => Err(error),
                    // An older library could only wait, possibly for ever. The end of the process frees the device.
                    _ => Ok(()),
                }
            } else {
                self.acl.reset_device(index)
            }
        };
        drop(devices);
        if let Err(error) = result {
            self.acl.keep_unreported(error);
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("index", &self.inner.index).field("acl", &self.inner.acl).finish()
    }
}

impl Acl {
    fn ensure_initialized(&self) -> Result<(), AclError> {
        let mut initialized = lock(&self.initialized);
        if initialized.is_none() {
            *initialized = Some(match self.init() {
                Ok(()) => Initialized::Here,
                Err(error) if error.code == ACL_ERROR_REPEAT_INITIALIZE => Initialized::Elsewhere,
                Err(error) => return Err(error),
            });
        }
        Ok(())
    }

    fn keep_unreported(&self, error: AclError) {
        lock(&self.unreported).get_or_insert(error);
    }

    fn take_unreported(&self) -> Result<(), Error> {
        lock(&self.unreported).take().map_or(Ok(()), |error| Err(Error::Release(error)))
    }
}

impl Drop for Acl {
    fn drop(&mut self) {
        if *lock(&self.initialized) == Some(Initialized::Here) {
            // SAFETY: every handle kept this value alive, and nobody else in the process initialized the library.
            // An error has nobody left who could be told.
            let _ = unsafe { self.finalize() };
        }
    }
}

/// A raw handle of the library, which any thread may use while its device is current.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw(pub(crate) *mut c_void);

// SAFETY: ACL allows handles to be used by every thread of the process; the pointer is never followed here.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}
