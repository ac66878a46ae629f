//! Device memory.

use std::ffi::c_void;

use super::Device;
use super::device::Raw;
use crate::error::Error;
use crate::sys::{
    ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
};

/// Device memory of a fixed size. The host cannot look into it: it copies.
///
/// Copies and fills are not ordered with any stream: synchronize first. A buffer of no bytes is allowed; it has an
/// address of its own.
#[derive(Debug)]
pub struct DeviceBuffer {
    device: Device,
    raw: Raw,
    len: usize,
}

impl DeviceBuffer {
    pub(super) fn new(device: &Device, len: usize) -> Result<Self, Error> {
        // ACL refuses to allocate nothing.
        let pointer = device.bind()?.malloc(len.max(1), ACL_MEM_MALLOC_HUGE_FIRST)?;
        Ok(Self { device: device.clone(), raw: Raw(pointer), len })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The address on the device. Not to be followed by the host.
    pub fn as_ptr(&self) -> *mut c_void {
        self.raw.0
    }

    /// The size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn check_len(&self, host: usize) -> Result<(), Error> {
        if host == self.len { Ok(()) } else { Err(Error::Length { host, device: self.len }) }
    }

    /// Overwrites the buffer with as many bytes of the host.
    ///
    /// # Errors
    /// The sizes differ, or the library's answer.
    pub fn copy_from_host(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.check_len(bytes.len())?;
        let acl = self.device.bind()?;
        if self.is_empty() {
            return Ok(()); // ACL refuses to copy nothing
        }
        // SAFETY: the slice is host memory, the buffer device memory of the same size.
        Ok(unsafe { acl.memcpy(self.raw.0, bytes.as_ptr().cast(), self.len, ACL_MEMCPY_HOST_TO_DEVICE) }?)
    }

    /// Copies the buffer into as many bytes of the host.
    ///
    /// # Errors
    /// The sizes differ, or the library's answer.
    pub fn copy_to_host(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.check_len(bytes.len())?;
        let acl = self.device.bind()?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: the slice is host memory, the buffer device memory of the same size.
        Ok(unsafe { acl.memcpy(bytes.as_mut_ptr().cast(), self.raw.0, self.len, ACL_MEMCPY_DEVICE_TO_HOST) }?)
    }

    /// The buffer's bytes.
    ///
    /// # Errors
    /// The library's answer.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.len];
        self.copy_to_host(&mut bytes)?;
        Ok(bytes)
    }

    /// Overwrites the buffer with another one of the same device and size.
    ///
    /// # Errors
    /// The sizes or the devices differ, or the library's answer.
    pub fn copy_from(&mut self, source: &Self) -> Result<(), Error> {
        self.check_len(source.len)?;
        if !self.device.is_same(&source.device) {
            return Err(Error::ForeignHandle { what: "source buffer" });
        }
        let acl = self.device.bind()?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: both are device memory of the same size, and `&mut` says that they are two.
        Ok(unsafe { acl.memcpy(self.raw.0, source.raw.0, self.len, ACL_MEMCPY_DEVICE_TO_DEVICE) }?)
    }

    /// Fills the buffer with a byte.
    ///
    /// # Errors
    /// The library's answer.
    pub fn fill(&mut self, byte: u8) -> Result<(), Error> {
        let acl = self.device.bind()?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: the buffer is device memory of this size.
        Ok(unsafe { acl.memset(self.raw.0, byte, self.len) }?)
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: this value owned the memory, and nobody can use it any more.
        self.device.release(|acl| unsafe { acl.free(self.raw.0) });
    }
}
