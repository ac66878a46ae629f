//! How the absolute errors are distributed.

use std::sync::Mutex;

use serde::Serialize;

/// Bins per octave: a quantile read off their edges is at most 1/16 too large.
const PER_OCTAVE: usize = 16;
/// Bits of a single-precision float behind the sign that say its bin.
const BIN_BITS: u32 = 12;
/// Bins of one table: every exponent of a single-precision float, infinity included.
const BINS: usize = 1 << BIN_BITS;
/// Counters of a bin that take turns. Neighbours mostly have the same error, and the same counter twice in a row waits for
/// itself. They stand side by side: in tables of their own they would have the same low address bits, which the processor
/// takes for the same counter.
const TURNS: usize = 8;

/// The bin of an error. Zero, and what single precision cannot tell from it, is in bin 0.
#[inline(always)]
pub(super) fn bin(error: f64) -> u16 {
    bin_of_single(error as f32)
}

/// The same in single precision.
#[inline(always)]
pub(super) fn bin_of_single(error: f32) -> u16 {
    (error.to_bits() >> (31 - BIN_BITS)) as u16
}

/// Where the counters of a bin are. No bin is beyond the last; the compiler sees that from the mask.
#[inline(always)]
fn place(bin: u16) -> usize {
    usize::from(bin) & (BINS - 1)
}

/// The largest error of a bin.
fn upper_edge(bin: usize) -> f64 {
    f32::from_bits((bin as u32 + 1) << (31 - BIN_BITS)).into()
}

/// Counts of errors.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS] }
    }
}

/// Counters of one thread, narrow enough to stay in the nearest cache. When it is done they are added to the total.
pub(super) struct Counters<'a> {
    bins: Box<[[u32; TURNS]; BINS]>,
    /// Counted since the counters were emptied: fewer than they can hold.
    pending: u32,
    total: &'a Mutex<Histogram>,
}

impl<'a> Counters<'a> {
    pub(super) fn new(total: &'a Mutex<Histogram>) -> Self {
        let bins = vec![[0u32; TURNS]; BINS].into_boxed_slice();
        match bins.try_into() {
            Ok(bins) => Self { bins, pending: 0, total },
            Err(_) => unreachable!("it has that many bins"),
        }
    }

    #[inline(always)]
    fn make_room(&mut self, count: usize) {
        self.pending += count as u32; // a block, or one element
        if self.pending > u32::MAX / 2 {
            self.empty();
        }
    }

    #[cold]
    fn empty(&mut self) {
        self.pending = 0;
        let Ok(mut total) = self.total.lock() else { return }; // another thread panicked, and so will the caller
        for (total, counts) in total.counts.iter_mut().zip(self.bins.iter_mut()) {
            *total += counts.iter().map(|count| u64::from(*count)).sum::<u64>();
            *counts = [0; TURNS];
        }
    }

    #[inline(always)]
    pub(super) fn add_all(&mut self, bins: &[u16]) {
        self.make_room(bins.len());
        let (rounds, rest) = bins.as_chunks::<TURNS>();
        let counters = &mut *self.bins; // through `self` the compiler would load the address again for each
        for round in rounds {
            for (turn, bin) in round.iter().enumerate() {
                counters[place(*bin)][turn] += 1;
            }
        }
        for bin in rest {
            counters[place(*bin)][0] += 1;
        }
    }

    #[inline(always)]
    pub(super) fn add_zeros(&mut self, count: usize) {
        self.make_room(count);
        self.bins[0][0] += count as u32;
    }

    pub(super) fn add(&mut self, error: f64) {
        self.make_room(1);
        self.bins[place(bin(error))][0] += 1;
    }
}

impl Drop for Counters<'_> {
    fn drop(&mut self) {
        self.empty();
    }
}

/// Errors of one power of two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    /// Smallest error counted.
    pub from: f64,
    /// The first that is not.
    pub to: f64,
    /// How many elements.
    pub count: u64,
}

/// Absolute errors that a share of the elements do not exceed. Read off a histogram with 16 bins per power of two:
/// never too small, at most 1/16 too large.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// Half of the elements.
    pub p50: f64,
    /// 90 %.
    pub p90: f64,
    /// 99 %.
    pub p99: f64,
    /// 99.9 %.
    pub p999: f64,
}

impl Histogram {
    /// By powers of two, from the smallest to the largest error there is; the first bucket holds the zeros if any.
    pub(super) fn buckets(&self) -> Vec<Bucket> {
        let mut buckets = Vec::new();
        if self.counts[0] > 0 {
            buckets.push(Bucket { from: 0.0, to: upper_edge(0), count: self.counts[0] });
        }
        let octave = |index: usize| index * PER_OCTAVE..(index + 1) * PER_OCTAVE;
        let count = |index: usize| octave(index).filter(|bin| *bin > 0).map(|bin| self.counts[bin]).sum::<u64>();
        let octaves = BINS / PER_OCTAVE;
        let filled: Vec<usize> = (0..octaves).filter(|index| count(*index) > 0).collect();
        if let (Some(first), Some(last)) = (filled.first(), filled.last()) {
            buckets.extend((*first..=*last).map(|index| Bucket {
                from: upper_edge((index * PER_OCTAVE).max(1) - 1),
                to: upper_edge((index + 1) * PER_OCTAVE - 1),
                count: count(index),
            }));
        }
        buckets
    }

    /// `largest` is the largest error there is.
    pub(super) fn quantiles(&self, largest: f64) -> Option<Quantiles> {
        let total: u64 = self.counts.iter().sum();
        let quantile = |share: f64| {
            let wanted = ((share * total as f64).ceil() as u64).max(1);
            let mut seen = 0;
            let bin = self.counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            let at_most = bin.map_or(largest, |bin| if bin == 0 { 0.0 } else { upper_edge(bin) });
            at_most.min(largest)
        };
        let all = || Quantiles { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), p999: quantile(0.999) };
        (total > 0).then(all)
    }
}
