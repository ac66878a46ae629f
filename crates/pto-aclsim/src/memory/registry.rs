//! Which addresses belong to which buffer, for a reader that may take no lock: the signal handler.
//!
//! A fixed array of slots. Writers hold the table's lock; a reader sees a slot's fields after its state, and a slot that
//! changes under it can at worst give a stale description of a process that is about to die.

use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::report::Line;

/// Buffers known at the same time, freed ones included. One more is only described less well.
const SLOTS: usize = 4096;

const EMPTY: usize = 0;
const LIVE: usize = 1;
const FREED: usize = 2;

struct Slot {
    state: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    base: AtomicUsize,
    size: AtomicUsize,
    id: AtomicU64,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        state: AtomicUsize::new(EMPTY),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        base: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        id: AtomicU64::new(0),
    }
}; SLOTS];

/// A slot that holds a buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotId(usize);

/// Where a buffer lies.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    /// Its whole mapping, guards included.
    pub(super) region: Range<usize>,
    pub(super) base: usize,
    pub(super) size: usize,
    pub(super) id: u64,
}

/// Makes a buffer known. `None` when all slots are taken.
pub(super) fn publish(extent: Extent) -> Option<SlotId> {
    let claim = |slot: &Slot| slot.state.compare_exchange(EMPTY, FREED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let index = TABLE.iter().position(claim)?;
    let slot = &TABLE[index];
    slot.start.store(extent.region.start, Ordering::Relaxed);
    slot.end.store(extent.region.end, Ordering::Relaxed);
    slot.base.store(extent.base, Ordering::Relaxed);
    slot.size.store(extent.size, Ordering::Relaxed);
    slot.id.store(extent.id, Ordering::Relaxed);
    slot.state.store(LIVE, Ordering::Release);
    Some(SlotId(index))
}

/// The buffer was freed; its addresses stay known.
pub(super) fn mark_freed(SlotId(index): SlotId) {
    TABLE[index].state.store(FREED, Ordering::Release);
}

/// The addresses may belong to something else from now on.
pub(super) fn forget(SlotId(index): SlotId) {
    let slot = &TABLE[index];
    slot.end.store(0, Ordering::Relaxed);
    slot.start.store(0, Ordering::Relaxed);
    slot.state.store(EMPTY, Ordering::Release);
}

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Next to address zero: a null pointer and an offset.
    NearNull(usize),
    /// In a live buffer or its guards.
    Live(Relation),
    /// In the addresses of a freed buffer.
    Freed(Relation),
    /// In no device buffer.
    Elsewhere,
}

/// An address seen from a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    /// Bytes from the start of the buffer; negative before it.
    pub(crate) offset: isize,
    size: usize,
    id: u64,
}

impl Relation {
    /// Whether the address is one of the buffer's own bytes.
    pub(crate) fn is_inside(&self) -> bool {
        usize::try_from(self.offset).is_ok_and(|offset| offset < self.size)
    }
}

/// Addresses below this are a null pointer plus an offset: the kernel maps nothing there.
const NULL_ZONE: usize = 1 << 16;

/// Finds out what an address is. Takes no lock and allocates nothing.
pub(crate) fn locate(address: usize) -> Place {
    if address < NULL_ZONE {
        return Place::NearNull(address);
    }
    for slot in &TABLE {
        let state = slot.state.load(Ordering::Acquire);
        let region = slot.start.load(Ordering::Relaxed)..slot.end.load(Ordering::Relaxed);
        if state == EMPTY || !region.contains(&address) {
            continue;
        }
        let relation = Relation {
            offset: address.wrapping_sub(slot.base.load(Ordering::Relaxed)) as isize,
            size: slot.size.load(Ordering::Relaxed),
            id: slot.id.load(Ordering::Relaxed),
        };
        return if state == LIVE { Place::Live(relation) } else { Place::Freed(relation) };
    }
    Place::Elsewhere
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, size, id } = *self;
        match usize::try_from(offset) {
            Err(_) => {
                write!(f, "{} bytes before the start of the {size}-byte device buffer #{id}", offset.unsigned_abs())
            }
            Ok(offset) if offset == size => {
                write!(f, "the first byte past the end of the {size}-byte device buffer #{id}")
            }
            Ok(offset) if offset > size => {
                write!(f, "{} bytes past the end of the {size}-byte device buffer #{id}", offset - size)
            }
            Ok(offset) => write!(f, "byte {offset} of the {size}-byte device buffer #{id}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NearNull(0) => f.write_str("a null pointer"),
            Self::NearNull(offset) => write!(f, "near null: a null pointer and {offset} bytes"),
            Self::Live(relation) => relation.fmt(f),
            Self::Freed(relation) => write!(f, "freed device memory: {relation}"),
            Self::Elsewhere => f.write_str("host memory"),
        }
    }
}

/// The description of an address, as bytes that fit a C string.
pub(crate) fn describe(address: usize) -> Line {
    let mut line = Line::new();
    let _ = write!(line, "{}", locate(address)); // a `Line` never fails
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_reads_well() {
        let at = |offset| Relation { offset, size: 8192, id: 3 };
        let rows = [
            (Place::NearNull(0), "a null pointer"),
            (Place::NearNull(64), "near null: a null pointer and 64 bytes"),
            (Place::Live(at(8192)), "the first byte past the end of the 8192-byte device buffer #3"),
            (Place::Live(at(8256)), "64 bytes past the end of the 8192-byte device buffer #3"),
            (Place::Live(at(-4)), "4 bytes before the start of the 8192-byte device buffer #3"),
            (Place::Live(at(8)), "byte 8 of the 8192-byte device buffer #3"),
            (Place::Freed(at(8)), "freed device memory: byte 8 of the 8192-byte device buffer #3"),
            (Place::Elsewhere, "host memory"),
        ];
        for (place, text) in rows {
            assert_eq!(place.to_string(), text);
        }
    }

    #[test]
    fn a_buffer_is_known_until_it_is_forgotten() {
        let base = 0x10_0000_0000;
        let extent = Extent { region: base - 4096..base + 8192, base, size: 100, id: 9 };
        let slot = publish(extent).unwrap();
        assert_eq!(locate(base + 4), Place::Live(Relation { offset: 4, size: 100, id: 9 }));
        mark_freed(slot);
        assert_eq!(locate(base - 8), Place::Freed(Relation { offset: -8, size: 100, id: 9 }));
        forget(slot);
        assert_eq!(locate(base + 4), Place::Elsewhere);
    }
}
