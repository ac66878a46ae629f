//! The table of device buffers, and the freed ones whose addresses are still watched.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::buffer::{Buffer, Overrun};
use super::registry::{self, Place};
use crate::codes;
use crate::config::Config;
use crate::failure::{Failure, Outcome};

/// Freed buffers whose addresses are kept unmapped for others, so that use after free is recognized.
const WATCHED_BUFFERS: usize = 256;

/// The address space they may take, in bytes. There are 128 TiB of it.
const WATCHED_BYTES: usize = 1 << 40;

pub(super) struct Entry {
    pub(super) buffer: Buffer,
    /// Copies in flight that need the buffer open.
    pub(super) copies: usize,
    /// An abandoned kernel may still use it: it stays open and mapped for ever.
    pub(super) pinned: bool,
}

pub(super) struct Table {
    pub(super) live: BTreeMap<usize, Entry>,
    watched: VecDeque<Buffer>,
    /// Kernels running: all buffers are open.
    pub(super) kernels: usize,
    last_id: u64,
}

static TABLE: Mutex<Table> =
    Mutex::new(Table { live: BTreeMap::new(), watched: VecDeque::new(), kernels: 0, last_id: 0 });

/// Told when a copy ends, for a `free` that waits for it.
pub(super) static COPY_ENDED: Condvar = Condvar::new();

pub(super) fn lock() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner) // a panic elsewhere is already reported as 500000
}

impl Table {
    /// The live buffer that holds all of `bytes` bytes from `address`.
    pub(super) fn find(&mut self, address: usize, bytes: usize) -> Option<&mut Entry> {
        let (_, entry) = self.live.range_mut(..=address).next_back()?;
        let offset = address - entry.buffer.base;
        let fits = offset < entry.buffer.size && bytes <= entry.buffer.size - offset;
        fits.then_some(entry)
    }

    fn used(&self, device: u32) -> u64 {
        self.live.values().filter(|entry| entry.buffer.device == device).map(|entry| entry.buffer.size as u64).sum()
    }

    fn retire(&mut self, entry: Entry) {
        entry.buffer.mark_freed();
        if entry.pinned {
            return; // stays mapped: the abandoned kernel must not crash the process after its verdict
        }
        entry.buffer.retire();
        self.watched.push_back(entry.buffer);
        while self.watched.len() > WATCHED_BUFFERS
            || self.watched.iter().map(Buffer::span).sum::<usize>() > WATCHED_BYTES
        {
            if let Some(oldest) = self.watched.pop_front() {
                oldest.unmap();
            }
        }
    }
}

/// Allocates `size` bytes of device memory and gives their address. The bytes are zero on this device; on a card they
/// are whatever was there before.
pub(crate) fn allocate(config: &Config, device: u32, size: usize) -> Outcome<usize> {
    if size == 0 {
        return Err(Failure::new(codes::ACL_ERROR_INVALID_PARAM, "argument `size` is 0"));
    }
    let mut table = lock();
    let used = table.used(device);
    let exhausted = || {
        let message = format!(
            "out of device memory: {size} bytes asked for, {} of {} bytes free on device {device}",
            config.memory.saturating_sub(used),
            config.memory
        );
        Failure::new(codes::ACL_ERROR_RT_MEMORY_ALLOCATION, message)
    };
    if used.saturating_add(size as u64) > config.memory {
        return Err(exhausted());
    }
    table.last_id += 1;
    let buffer = Buffer::map(table.last_id, device, size).ok_or_else(exhausted)?;
    if table.kernels > 0 {
        buffer.open();
    }
    let base = buffer.base;
    table.live.insert(base, Entry { buffer, copies: 0, pinned: false });
    Ok(base)
}

/// Frees the buffer that starts at `address`, after the copies that use it. A kernel that uses it faults from now on.
pub(crate) fn free(address: usize) -> Outcome<()> {
    let mut table = lock();
    while table.live.get(&address).is_some_and(|entry| entry.copies > 0) {
        table = COPY_ENDED.wait(table).unwrap_or_else(PoisonError::into_inner);
    }
    let Some(entry) = table.live.remove(&address) else {
        return Err(Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, not_a_buffer(address)));
    };
    entry.buffer.open();
    let overrun = entry.buffer.check();
    table.retire(entry);
    overrun.map_or(Ok(()), |overrun| Err(overrun_failure("a kernel", overrun)))
}

fn not_a_buffer(address: usize) -> String {
    let place = registry::locate(address);
    match place {
        Place::Freed(relation) if relation.offset == 0 => format!("{address:#x} was freed before: {place}"),
        _ => format!("{address:#x} is not the start of a device buffer: it is {place}"),
    }
}

/// The failure for a kernel that broke a canary.
pub(super) fn overrun_failure(kernel: &str, overrun: Overrun) -> Failure {
    Failure::new(codes::ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW, format!("{kernel} {overrun}"))
}

/// Bytes allocated on a device.
pub(crate) fn in_use(device: u32) -> u64 {
    lock().used(device)
}

/// Whether all of `bytes` bytes from `address` lie in one live buffer.
pub(crate) fn is_device_range(address: usize, bytes: usize) -> bool {
    lock().find(address, bytes).is_some()
}

/// Whether an address belongs to device memory in any way: live, freed, or a guard between.
pub(crate) fn is_device_address(address: usize) -> bool {
    matches!(registry::locate(address), Place::Live(_) | Place::Freed(_)) || is_device_range(address, 1)
}

/// Frees all that is still allocated on a device, and gives the number and size of each such buffer.
pub(crate) fn release_device(device: u32) -> Vec<(u64, usize)> {
    let mut table = lock();
    let bases: Vec<usize> =
        table.live.iter().filter(|(_, entry)| entry.buffer.device == device).map(|(base, _)| *base).collect();
    let mut leaked = Vec::new();
    for base in bases {
        if let Some(entry) = table.live.remove(&base) {
            leaked.push((entry.buffer.id, entry.buffer.size));
            table.retire(entry);
        }
    }
    leaked.sort_unstable();
    leaked
}
