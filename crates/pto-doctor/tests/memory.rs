//! A log of any length takes the same memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

use pto_doctor::triage::{Machine, Triage, Triager};

/// Counts what is allocated, and the most that ever was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every method passes its arguments to `System` unchanged and returns what it returns; counting touches atomics
// only, and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is that of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` came from `System.alloc` with this layout, as the caller promises for `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A log of `size` bytes that is never in memory: ordinary lines, faults with ever new codes, files and chips, lines of
/// a megabyte without an end, and bytes that are no text.
struct Synthetic {
    left: usize,
    line: u64,
    pending: Vec<u8>,
    at: usize,
}

impl Synthetic {
    fn new(size: usize) -> Self {
        Self { left: size, line: 0, pending: Vec::new(), at: 0 }
    }

    fn next_line(&mut self) {
        self.line += 1;
        let n = self.line;
        self.at = 0;
        self.pending.clear();
        let text = match n % 1000 {
            0 => format!("a{n}.cpp:{n}:1: error: unknown name x{n}\n"),
            100 => format!("[ERROR] call {n} failed: {}\n", 507_000 + n % 999),
            200 => format!(
                "The error from device(chipId:{n}, dieId:0), there is an aicore error exception, core id is {n}, error code \
                 = 95, dump info: pc start: 0x1, current: 0x2\n"
            ),
            300 => format!("[ERROR] error detail: number {n}\n[ERROR] error hint: try {n}\n"),
            400 => format!("Strange_Name{n}(EZ{:04}): text\n", n % 10_000),
            _ => format!("[INFO] RUNTIME(1,x):2026-01-02-03:04:05.{:06} step {n} took 3 ms\n", n % 1_000_000),
        };
        self.pending.extend_from_slice(text.as_bytes());
        if n.is_multiple_of(100_000) {
            self.pending.resize(1 << 20, 0xff);
        }
    }
}

impl Read for Synthetic {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.pending.len() {
            self.next_line();
        }
        let count = buffer.len().min(self.pending.len() - self.at).min(self.left);
        buffer[..count].copy_from_slice(&self.pending[self.at..self.at + count]);
        self.at += count;
        self.left -= count;
        Ok(count)
    }
}

/// Most bytes that were allocated at once while a log of this size was read.
fn peak(size: usize) -> (usize, Triage) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut triager = Triager::new(Machine::default());
    triager.log("synthetic", BufReader::with_capacity(64 << 10, Synthetic::new(size))).unwrap();
    let triage = triager.finish();
    (PEAK.load(Ordering::Relaxed) - before, triage)
}

fn stays_small(size: usize) {
    peak(1 << 20); // what is made once: the automaton and the tables
    let (small, _) = peak(24 << 20);
    let (large, triage) = peak(size);
    assert_eq!(triage.sources[0].bytes, size as u64);
    assert!(triage.first_cause().is_some());
    assert!(large <= small + (256 << 10), "{size} bytes took {large} bytes, {} bytes took {small}", 24 << 20);
    assert!(large < 8 << 20, "{large} bytes");
}

// One test, for the counter is one for the whole process.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "one GiB takes minutes without optimization: cargo test --release -p pto-doctor --test memory"
)]
fn a_gigabyte_takes_what_a_few_megabytes_take() {
    stays_small(1 << 30);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the larger one is run with optimization")]
fn a_hundred_megabytes_take_what_a_few_take() {
    stays_small(96 << 20);
}
