//! Page-locked host memory (`aclrtMallocHost`). Here it is plain host memory, with its sizes kept.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::codes;
use crate::failure::{Failure, Outcome};

/// What page-locked memory is aligned to, in bytes.
const PAGE: usize = 4096;

static BLOCKS: LazyLock<Mutex<HashMap<usize, Layout>>> = LazyLock::new(Mutex::default);

/// Allocates `size` bytes of host memory.
pub(crate) fn allocate(size: usize) -> Outcome<usize> {
    if size == 0 {
        return Err(Failure::new(codes::ACL_ERROR_INVALID_PARAM, "argument `size` is 0"));
    }
    let exhausted = || Failure::new(codes::ACL_ERROR_RT_MEMORY_ALLOCATION, format!("no {size} bytes of host memory"));
    let layout = Layout::from_size_align(size, PAGE).map_err(|_| exhausted())?;
    // SAFETY: the layout is not empty.
    let address = unsafe { alloc(layout) } as usize;
    if address == 0 {
        return Err(exhausted());
    }
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).insert(address, layout);
    Ok(address)
}

/// Frees what `allocate` gave.
pub(crate) fn free(address: usize) -> Outcome<()> {
    let layout = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    let Some(layout) = layout else {
        let message = format!("{address:#x} is not host memory of `aclrtMallocHost`, or was freed before");
        return Err(Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, message));
    };
    // SAFETY: the entry said that `alloc` gave this address for this layout, and taking it out makes this the only free.
    unsafe { dealloc(address as *mut u8, layout) };
    Ok(())
}
