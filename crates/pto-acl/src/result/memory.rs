//! Device memory.

use std::ffi::c_void;

use super::MemInfo;
use crate::error::AclError;
use crate::load::Acl;
use crate::sys::*;

impl Acl {
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
