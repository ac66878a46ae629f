//! The times at which device memory can be touched.

use super::table::{self, COPY_ENDED, Entry, overrun_failure};
use crate::failure::Outcome;

/// Keeps the device buffers of one copy or fill open.
#[derive(Debug)]
pub(crate) struct CopyAccess {
    addresses: Vec<usize>,
}

impl CopyAccess {
    /// Opens the buffers that hold these ranges. `None`, and nothing opened, when one of them lies in no buffer.
    pub(crate) fn open(ranges: &[(usize, usize)]) -> Option<Self> {
        let mut table = table::lock();
        if !ranges.iter().all(|(address, bytes)| table.find(*address, *bytes).is_some()) {
            return None;
        }
        let closed_before = table.kernels == 0;
        for (address, bytes) in ranges {
            if let Some(entry) = table.find(*address, *bytes) {
                if closed_before && entry.copies == 0 && !entry.pinned {
                    entry.buffer.open();
                }
                entry.copies += 1;
            }
        }
        Some(Self { addresses: ranges.iter().map(|(address, _)| *address).collect() })
    }
}

impl Drop for CopyAccess {
    fn drop(&mut self) {
        let mut table = table::lock();
        let kernels = table.kernels;
        for address in &self.addresses {
            if let Some(entry) = table.find(*address, 0) {
                entry.copies -= 1;
                close_unless_used(entry, kernels);
            }
        }
        COPY_ENDED.notify_all();
    }
}

/// Keeps all device memory open while a kernel runs.
#[derive(Debug)]
pub(crate) struct KernelAccess(());

impl KernelAccess {
    /// Opens everything.
    pub(crate) fn open() -> Self {
        let mut table = table::lock();
        table.kernels += 1;
        if table.kernels == 1 {
            table
                .live
                .values()
                .filter(|entry| entry.copies == 0 && !entry.pinned)
                .for_each(|entry| entry.buffer.open());
        }
        Self(())
    }

    /// The kernel returned well: looks at the canaries of all buffers.
    ///
    /// # Errors
    /// The kernel wrote beyond a buffer. With several kernels at once it may have been another one.
    pub(crate) fn check(&self, kernel: &str) -> Outcome<()> {
        let table = table::lock();
        match table.live.values().find_map(|entry| entry.buffer.check()) {
            None => Ok(()),
            Some(overrun) => Err(overrun_failure(&format!("kernel `{kernel}`"), overrun)),
        }
    }

    /// The kernel failed: threads of it may still run, so what it could reach stays open and mapped.
    pub(crate) fn abandon(self) {
        pin_all();
    }
}

/// Keeps all present buffers open and mapped for ever.
pub(crate) fn pin_all() {
    let mut table = table::lock();
    for entry in table.live.values_mut().filter(|entry| !entry.pinned) {
        entry.buffer.open();
        entry.pinned = true;
    }
}

impl Drop for KernelAccess {
    fn drop(&mut self) {
        let mut table = table::lock();
        table.kernels -= 1;
        let kernels = table.kernels;
        table.live.values_mut().for_each(|entry| close_unless_used(entry, kernels));
    }
}

fn close_unless_used(entry: &Entry, kernels: usize) {
    if kernels == 0 && entry.copies == 0 && !entry.pinned {
        entry.buffer.close();
    }
}
