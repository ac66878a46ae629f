//! Device and host memory.

use std::ffi::c_void;

use super::{AclError, MemcpyKind};
use crate::call::{call, store, wanted};
use crate::copy::{Copy, Fill};
use crate::failure::{Failure, Outcome};
use crate::{config, host, memory, runtime};

/// # Safety
/// `place` is null or valid for a write.
unsafe fn malloc(place: *mut *mut c_void, size: usize) -> Outcome<()> {
    wanted("devPtr", place)?;
    let context = runtime::working_context()?;
    let address = memory::allocate(config::get()?, context.device, size)?;
    // SAFETY: the caller vouches for its pointer.
    unsafe { store("devPtr", place, std::ptr::with_exposed_provenance_mut(address)) }
}

/// Allocates device memory. All policies are one here.
///
/// # Safety
/// `place` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMalloc(place: *mut *mut c_void, size: usize, _policy: i32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtMalloc", || unsafe { malloc(place, size) })
}

/// The same: neither is padded here, so that a write past the end is seen.
///
/// # Safety
/// `place` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocAlign32(place: *mut *mut c_void, size: usize, _policy: i32) -> AclError {
    // SAFETY: the caller vouches for its pointer.
    call("aclrtMallocAlign32", || unsafe { malloc(place, size) })
}

/// Frees device memory. Does not wait for kernels: one that uses it still faults.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtFree(pointer: *mut c_void) -> AclError {
    call("aclrtFree", || {
        runtime::initialized()?;
        if pointer.is_null() {
            return Err(Failure::null("devPtr"));
        }
        memory::free(pointer.addr())
    })
}

/// Allocates host memory.
///
/// # Safety
/// `place` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocHost(place: *mut *mut c_void, size: usize) -> AclError {
    call("aclrtMallocHost", || {
        wanted("hostPtr", place)?;
        runtime::working_context()?;
        let address = host::allocate(size)?;
        // SAFETY: the caller vouches for its pointer.
        unsafe { store("hostPtr", place, std::ptr::with_exposed_provenance_mut(address)) }
    })
}

/// Frees host memory of `aclrtMallocHost`.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtFreeHost(pointer: *mut c_void) -> AclError {
    call("aclrtFreeHost", || host::free(pointer.addr()))
}

/// Copies, and returns when it is done. Not ordered with any stream.
///
/// # Safety
/// Host sides are valid for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy(
    dst: *mut c_void,
    dst_max: usize,
    src: *const c_void,
    count: usize,
    kind: MemcpyKind,
) -> AclError {
    call("aclrtMemcpy", || {
        runtime::working_context()?;
        let (dst, src) = (dst.expose_provenance(), src.expose_provenance());
        Copy::new(dst, dst_max, src, count, kind)?.execute()
    })
}

/// Copies when the stream gets to it.
///
/// # Safety
/// Host sides stay valid for `count` bytes until the stream was synchronized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsync(
    dst: *mut c_void,
    dst_max: usize,
    src: *const c_void,
    count: usize,
    kind: MemcpyKind,
    stream: *mut c_void,
) -> AclError {
    call("aclrtMemcpyAsync", || {
        let stream = runtime::working_stream(stream.addr())?;
        let (dst, src) = (dst.expose_provenance(), src.expose_provenance());
        stream.push(Copy::new(dst, dst_max, src, count, kind)?);
        Ok(())
    })
}

/// Fills device memory with a byte, and returns when it is done.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtMemset(pointer: *mut c_void, max: usize, value: i32, count: usize) -> AclError {
    call("aclrtMemset", || {
        runtime::working_context()?;
        Fill::new(pointer.addr(), max, value, count)?.execute()
    })
}

/// Fills device memory with a byte when the stream gets to it.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtMemsetAsync(
    pointer: *mut c_void,
    max: usize,
    value: i32,
    count: usize,
    stream: *mut c_void,
) -> AclError {
    call("aclrtMemsetAsync", || {
        let stream = runtime::working_stream(stream.addr())?;
        stream.push(Fill::new(pointer.addr(), max, value, count)?);
        Ok(())
    })
}

/// Free and total device memory in bytes. All attributes are one here.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemInfo(_attr: i32, free: *mut usize, total: *mut usize) -> AclError {
    call("aclrtGetMemInfo", || {
        let context = runtime::current_context()?;
        let all = config::get()?.memory;
        let left = all.saturating_sub(memory::in_use(context.device));
        // SAFETY: the caller vouches for its pointers.
        unsafe {
            store("free", free, left as usize)?;
            store("total", total, all as usize)
        }
    })
}
