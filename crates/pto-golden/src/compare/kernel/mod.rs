//! The innermost loop: a block of doubles that are all finite, judged and added up.

use super::histogram::bin;
use super::stats::Sums;

/// Elements decoded at a time: two such blocks of doubles stay in the nearest cache.
pub(super) const BLOCK: usize = 1024;

/// Sums kept side by side, so that the compiler can use vector registers although float addition is not associative.
const LANES: usize = 8;

/// `|a - e| <= atol + rtol * max(|e|, floor)`, and for the worst element `cap` times that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) rtol: f64,
    pub(super) atol: f64,
    pub(super) floor: f64,
    pub(super) cap: f64,
}

impl Limit {
    /// Lets every finite element pass.
    pub(super) const NONE: Self = Self { rtol: 0.0, atol: f64::MAX, floor: 0.0, cap: 1.0 };

    /// How far from an expected value of this magnitude an element may be. Never infinite, so that no finite limit lets
    /// an infinity pass; a NaN limit lets nothing pass.
    #[inline(always)]
    pub(super) fn of(&self, magnitude: f64) -> f64 {
        let floored = if magnitude > self.floor { magnitude } else { self.floor };
        let limit = self.atol + self.rtol * floored;
        if limit > f64::MAX { f64::MAX } else { limit } // `min` would make a NaN limit the widest of all
    }

    /// The same for the worst element.
    #[inline(always)]
    pub(super) fn hard(&self, magnitude: f64) -> f64 {
        let limit = self.cap * self.of(magnitude);
        if limit > f64::MAX { f64::MAX } else { limit }
    }
}

/// A quotient times its divisor may be a little less than what was divided; a repeated maximum must not look larger.
const SURELY: f64 = 1.0 + 4.0 * f64::EPSILON;

/// What is known of the largest errors so far; a block that has none larger needs no second look.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) absolute: f64,
    pub(super) relative: f64,
}

/// What a block adds up to.
pub(super) struct Seen {
    /// Every difference is finite. If not, nothing else here means anything.
    pub(super) finite: bool,
    /// Elements outside of the limit.
    pub(super) wrong: usize,
    /// Elements outside of the hard limit.
    pub(super) hopeless: usize,
    /// An error is above the bar.
    pub(super) above: bool,
    pub(super) sums: Sums,
}

/// The loop of [`block`] in single precision, for types that are exact in it: twice as fast, and right in most blocks.
/// Whatever it is not sure of is left to [`block`].
pub(super) mod single;

#[derive(Default)]
struct Lanes {
    odd: [u64; LANES],
    above: [u64; LANES],
    wrong: [u64; LANES],
    hopeless: [u64; LANES],
    errors: [f64; LANES],
    squared_errors: [f64; LANES],
    squares: [f64; LANES],
    products: [f64; LANES],
    shifted: [f64; LANES],
    shifted_squares: [f64; LANES],
}

/// Reads a full block. `bins` gets the bin of each error.
#[inline(always)]
pub(super) fn block(
    actual: &[f64; BLOCK],
    expected: &[f64; BLOCK],
    limit: &Limit,
    shift: f64,
    bar: Bar,
    bins: &mut [u16; BLOCK],
) -> Seen {
    let mut lanes = Lanes::default();
    let pairs = actual.as_chunks::<LANES>().0.iter().zip(expected.as_chunks::<LANES>().0);
    for ((actual, expected), bins) in pairs.zip(bins.as_chunks_mut::<LANES>().0) {
        for lane in 0..LANES {
            let e = expected[lane];
            let error = actual[lane] - e;
            let (size, magnitude) = (error.abs(), e.abs());
            let allowed = limit.of(magnitude);
            let above = (size > bar.absolute) | ((size > bar.relative * SURELY * magnitude) & (magnitude > 0.0));
            // `unless` and not the opposite comparison: a NaN is never small enough.
            lanes.odd[lane] |= unless(size <= f64::MAX);
            lanes.above[lane] |= u64::from(above);
            lanes.wrong[lane] += unless(size <= allowed);
            lanes.hopeless[lane] += unless(size <= limit.hard(magnitude));
            lanes.errors[lane] += error;
            lanes.squared_errors[lane] += error * error;
            lanes.squares[lane] += e * e;
            lanes.products[lane] += e * error;
            lanes.shifted[lane] += e - shift;
            lanes.shifted_squares[lane] += (e - shift) * (e - shift);
            bins[lane] = bin(size);
        }
    }
    lanes.seen()
}

#[inline(always)]
fn unless(holds: bool) -> u64 {
    u64::from(!holds)
}

impl Lanes {
    #[inline(always)]
    fn seen(&self) -> Seen {
        let total = |lanes: &[f64; LANES]| lanes.iter().sum();
        let count = |lanes: &[u64; LANES]| lanes.iter().sum::<u64>() as usize;
        Seen {
            finite: count(&self.odd) == 0,
            wrong: count(&self.wrong),
            hopeless: count(&self.hopeless),
            above: count(&self.above) > 0,
            sums: Sums {
                count: BLOCK,
                errors: total(&self.errors),
                squared_errors: total(&self.squared_errors),
                squares: total(&self.squares),
                products: total(&self.products),
                shifted: total(&self.shifted),
                shifted_squares: total(&self.shifted_squares),
            },
        }
    }
}
