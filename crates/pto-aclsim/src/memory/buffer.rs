//! One device buffer: a mapping between guard pages, placed so that its end touches the guard, with canaries in the
//! bytes that pages force upon it.
//!
//! ```text
//! | guard, never open | slack: canary | the buffer's B bytes | tail: canary | guard, never open |
//!                     ^ page          ^ base, 32-byte aligned  ^ base + B    ^ page = base + B rounded up to 32
//! ```

use std::ffi::c_void;
use std::ops::Range;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

use super::registry::{self, SlotId};

/// What a buffer's size is rounded up to on the device, and what its address is a multiple of.
const GRANULE: usize = 32;

/// The width of each guard in bytes. Address space only, and wide enough that a kernel which runs over by a whole tile
/// still hits it.
const GUARD: usize = 1 << 20;

/// A device buffer. It starts closed: neither readable nor writable.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) id: u64,
    pub(super) device: u32,
    pub(super) base: usize,
    /// Bytes asked for.
    pub(super) size: usize,
    /// The pages between the guards.
    pages: Range<usize>,
    slot: Option<SlotId>,
}

impl Buffer {
    /// Maps a buffer of `size` bytes. `None` when the host has no memory or address space left.
    pub(super) fn map(id: u64, device: u32, size: usize) -> Option<Self> {
        let page = rustix::param::page_size();
        let rounded = size.checked_next_multiple_of(GRANULE)?;
        let inner = rounded.checked_next_multiple_of(page)?;
        let total = inner.checked_add(2 * GUARD)?;
        // SAFETY: a fresh anonymous mapping at an address the kernel chooses touches nothing that exists.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), total, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
        };
        let start = start.ok()? as usize;
        let pages = start + GUARD..start + GUARD + inner;
        let base = pages.end - rounded;
        let slot = registry::publish(registry::Extent { region: start..start + total, base, size, id });
        let buffer = Self { id, device, base, size, pages, slot };
        if buffer.protect(MprotectFlags::READ | MprotectFlags::WRITE).is_err() {
            buffer.unmap(); // the host promises no more memory
            return None;
        }
        buffer.paint();
        buffer.close();
        Some(buffer)
    }

    /// Lets everyone read and write the buffer.
    pub(super) fn open(&self) {
        self.protect_or_say(MprotectFlags::READ | MprotectFlags::WRITE);
    }

    /// Lets nobody read or write the buffer.
    pub(super) fn close(&self) {
        self.protect_or_say(MprotectFlags::empty());
    }

    /// Splitting a mapping can exceed the limit on mappings. Going on would fault on a healthy buffer without a word.
    fn protect_or_say(&self, flags: MprotectFlags) {
        if let Err(error) = self.protect(flags) {
            crate::report::say(format_args!("cannot change the protection of device buffer #{}: {error}", self.id));
        }
    }

    fn protect(&self, flags: MprotectFlags) -> rustix::io::Result<()> {
        // SAFETY: the pages belong to this buffer and Rust holds no reference into them; it reads and writes them
        // through pointers only, and while the buffer is open.
        unsafe { mprotect(self.pages.start as *mut c_void, self.pages.len(), flags) }
    }

    /// The bytes before and behind the buffer that share its pages.
    fn slack(&self) -> [Range<usize>; 2] {
        [self.pages.start..self.base, self.base + self.size..self.pages.end]
    }

    fn paint(&self) {
        for address in self.slack().into_iter().flatten() {
            // SAFETY: the address lies in this buffer's pages, which are open while it is painted.
            unsafe { (address as *mut u8).write_volatile(canary(address)) };
        }
    }

    /// Looks at the canaries, while the buffer is open, and repaints them when they were overwritten.
    pub(super) fn check(&self) -> Option<Overrun> {
        let [before, behind] = self.slack().map(|slack| {
            let mut broken = slack.filter(|address| {
                // SAFETY: the address lies in this buffer's pages, which are open while it is checked.
                let found = unsafe { (*address as *const u8).read_volatile() };
                found != canary(*address)
            });
            broken.next().map(|first| (first, broken.next_back().unwrap_or(first)))
        });
        let overrun = match (before, behind) {
            (_, Some((_, last))) => Overrun {
                bytes: last + 1 - (self.base + self.size),
                side: "past the end of",
                id: self.id,
                size: self.size,
            },
            (Some((first, _)), None) => {
                Overrun { bytes: self.base - first, side: "before the start of", id: self.id, size: self.size }
            }
            (None, None) => return None,
        };
        self.paint();
        Some(overrun)
    }

    /// From now on its addresses are those of freed memory.
    pub(super) fn mark_freed(&self) {
        if let Some(slot) = self.slot {
            registry::mark_freed(slot);
        }
    }

    /// Gives the memory back but keeps the addresses, so that later use of them is still recognized.
    pub(super) fn retire(&self) {
        // SAFETY: the pages belong to this buffer, which is no longer in the table: nobody else will open it.
        let _ = unsafe { madvise(self.pages.start as *mut c_void, self.pages.len(), Advice::LinuxDontNeed) };
        self.close();
    }

    /// Gives the addresses back too.
    pub(super) fn unmap(self) {
        if let Some(slot) = self.slot {
            registry::forget(slot);
        }
        let start = self.pages.start - GUARD;
        // SAFETY: the region is the one `map` made, and this buffer, its only owner, is consumed.
        let _ = unsafe { munmap(start as *mut c_void, self.pages.len() + 2 * GUARD) };
    }

    /// The bytes of address space the buffer takes.
    pub(super) fn span(&self) -> usize {
        self.pages.len() + 2 * GUARD
    }
}

/// The canary of an address. It differs from byte to byte, so that no constant fill matches it.
fn canary(address: usize) -> u8 {
    (address as u8).wrapping_mul(0x9d) ^ 0xa5
}

/// A kernel wrote where no buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overrun {
    bytes: usize,
    side: &'static str,
    id: u64,
    size: usize,
}

impl std::fmt::Display for Overrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, side, id, size } = self;
        write!(f, "wrote {bytes} byte{} {side} the {size}-byte device buffer #{id}", if *bytes == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_buffer_is_aligned_and_ends_at_its_guard(size in 1usize..20_000) {
            let buffer = Buffer::map(1, 0, size).unwrap();
            prop_assert_eq!(buffer.base % GRANULE, 0);
            prop_assert!(buffer.pages.end - (buffer.base + size) < GRANULE);
            buffer.unmap();
        }
    }

    #[test]
    fn an_overrun_is_measured_on_both_sides() {
        let buffer = Buffer::map(7, 0, 100).unwrap();
        buffer.open();
        assert_eq!(buffer.check(), None);
        // SAFETY: bytes 100 and 101 lie in the open tail of the buffer.
        unsafe { ((buffer.base + 101) as *mut u8).write(!canary(buffer.base + 101)) };
        assert_eq!(buffer.check().unwrap().to_string(), "wrote 2 bytes past the end of the 100-byte device buffer #7");
        assert_eq!(buffer.check(), None, "repainted");
        // SAFETY: the byte before the base lies in the open slack of the buffer.
        unsafe { ((buffer.base - 1) as *mut u8).write(!canary(buffer.base - 1)) };
        assert_eq!(
            buffer.check().unwrap().to_string(),
            "wrote 1 byte before the start of the 100-byte device buffer #7"
        );
        buffer.unmap();
    }
}
