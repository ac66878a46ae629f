//! The pass over two tensors of one dtype and one shape.

use rayon::prelude::*;

use super::stats::{Stats, Sums, raise};
use super::{Options, Tolerance};
use crate::element::with_element;
use crate::poison::pattern;
use crate::{Element, Scalar, Tensor};

/// Elements per piece of work. Below two of these, one thread is faster.
const CHUNK: usize = 1 << 16;

/// Elements decoded at a time: two such blocks of doubles stay in the nearest cache.
const BLOCK: usize = 512;

/// Sums kept side by side, so that the compiler can use vector registers although float addition is not associative.
const LANES: usize = 8;

/// One pass. The tensors have the same dtype and length.
pub(super) fn scan(actual: &Tensor, expected: &Tensor, tolerance: Tolerance, options: &Options) -> Stats {
    with_element!(expected.dtype(), T => {
        let pass = Pass { tolerance, options, pattern: pattern(T::DTYPE), shift: shift(expected) };
        let bytes = CHUNK * size_of::<T>();
        let one = |(chunk, (actual, expected)): (usize, (&[u8], &[u8]))| {
            pass.chunk::<T>(chunk * CHUNK, actual, expected)
        };
        let (actual, expected) = (actual.bytes(), expected.bytes());
        let merge = |so_far: Stats, later| so_far.merge(later, options.listed);
        if actual.len() < 2 * bytes {
            let pairs = actual.chunks(bytes).zip(expected.chunks(bytes));
            pairs.enumerate().map(one).fold(Stats::default(), merge)
        } else {
            let pairs = actual.par_chunks(bytes).zip(expected.par_chunks(bytes));
            let parts: Vec<Stats> = pairs.enumerate().map(one).collect();
            parts.into_iter().fold(Stats::default(), merge)
        }
    })
}

/// Some finite expected value near the others; see [`Sums`].
fn shift(expected: &Tensor) -> f64 {
    const LOOKED_AT: usize = 64;
    let values = (0..expected.len().min(LOOKED_AT)).filter_map(|i| expected.get(i)).map(to_f64);
    values.into_iter().find(|value| value.is_finite()).unwrap_or(0.0)
}

fn to_f64(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Float(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => value.into(),
    }
}

struct Pass<'a> {
    tolerance: Tolerance,
    options: &'a Options,
    pattern: &'static [u8],
    shift: f64,
}

impl Pass<'_> {
    fn chunk<T: Element>(&self, start: usize, actual: &[u8], expected: &[u8]) -> Stats {
        let mut stats = Stats::default();
        let (mut a, mut e) = ([0.0; BLOCK], [0.0; BLOCK]);
        let bytes = BLOCK * size_of::<T>();
        for (block, (actual, expected)) in actual.chunks(bytes).zip(expected.chunks(bytes)).enumerate() {
            let len = actual.len() / size_of::<T>();
            let (a, e) = (&mut a[..len], &mut e[..len]);
            let at = start + block * BLOCK;
            T::read_f64s(expected, e);
            let quick = if T::DTYPE.is_float() {
                T::read_f64s(actual, a);
                self.agreeing_block(at, a, e, &mut stats)
            } else {
                actual == expected && self.agreeing_block(at, e, e, &mut stats)
            };
            if !quick {
                self.slow_block::<T>(at, actual, expected, &mut stats);
            }
        }
        stats
    }

    /// If every element of the block is finite and within tolerance, counts it in and says so; else does nothing.
    fn agreeing_block(&self, start: usize, actual: &[f64], expected: &[f64], stats: &mut Stats) -> bool {
        let (Some(lanes), Some(worst_abs), Some(worst_rel)) = self.agreeing_lanes(actual, expected) else {
            return false;
        };
        lanes.into_iter().for_each(|lane| stats.sums.merge(lane));
        let improves = |worst: Option<super::stats::Worst>, found: f64| worst.is_none_or(|worst| found > worst.error);
        if improves(stats.worst_abs, worst_abs) || improves(stats.worst_rel, worst_rel) {
            for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
                raise(&mut stats.worst_abs, (a - e).abs(), start + i);
                if *e != 0.0 {
                    raise(&mut stats.worst_rel, (a - e).abs() / e.abs(), start + i);
                }
            }
        }
        true
    }

    /// The sums of each lane, the worst absolute and the worst relative error; `None`s if any element disagrees.
    /// A NaN or an infinity on either side gives a difference that is no number within any limit.
    fn agreeing_lanes(&self, actual: &[f64], expected: &[f64]) -> (Option<[Sums; LANES]>, Option<f64>, Option<f64>) {
        let mut lanes = [Sums::default(); LANES];
        let (mut worst_abs, mut worst_rel) = ([0.0f64; LANES], [0.0f64; LANES]);
        let mut agree = true;
        for (actual, expected) in actual.chunks(LANES).zip(expected.chunks(LANES)) {
            for (lane, (a, e)) in actual.iter().zip(expected).enumerate() {
                let error = (a - e).abs();
                agree &= error <= self.tolerance.limit(*e);
                worst_abs[lane] = worst_abs[lane].max(error);
                worst_rel[lane] = worst_rel[lane].max(if *e == 0.0 { 0.0 } else { error / e.abs() });
                lanes[lane].add(*e, error, self.shift);
            }
        }
        if !agree {
            return (None, None, None);
        }
        let largest = |worst: [f64; LANES]| Some(worst.into_iter().fold(0.0, f64::max));
        (Some(lanes), largest(worst_abs), largest(worst_rel))
    }

    fn slow_block<T: Element>(&self, start: usize, actual: &[u8], expected: &[u8], stats: &mut Stats) {
        let size = size_of::<T>();
        for (i, (actual, expected)) in actual.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
            let at = start + i;
            let (a, e) = (T::read(actual), T::read(expected));
            let equal = match (a.to_scalar(), e.to_scalar()) {
                (Scalar::Float(a), Scalar::Float(e)) => self.floats(at, a, e, stats),
                (Scalar::Int(a), Scalar::Int(e)) => self.integers(at, a, e, stats),
                // A byte that is neither 0 nor 1 is no truth value, even if it would read as the right one.
                _ => self.integers(at, actual[0].into(), expected[0].into(), stats),
            };
            let patterned = self.options.poisoned && actual == self.pattern && expected != self.pattern;
            // A float that still holds the pattern is a NaN, which may be allowed; nobody wrote it all the same.
            let unwritten = patterned && (!equal || T::DTYPE.is_float());
            if unwritten {
                stats.unwritten(at);
            }
            if !equal || unwritten {
                stats.mismatch(at, self.options.listed);
            }
        }
    }

    /// Classes first: the formula would let any finite value pass for an infinity, and no infinity for itself.
    fn floats(&self, at: usize, actual: f64, expected: f64, stats: &mut Stats) -> bool {
        if actual.is_finite() && expected.is_finite() {
            let error = (actual - expected).abs();
            stats.error(at, expected, error, self.shift);
            return error <= self.tolerance.limit(expected);
        }
        stats.non_finite(actual, expected);
        let both_nan = actual.is_nan() && expected.is_nan();
        actual == expected || (both_nan && self.options.equal_nan)
    }

    /// The difference is exact; only a tolerance that is not 0 needs it as a double.
    fn integers(&self, at: usize, actual: i128, expected: i128, stats: &mut Stats) -> bool {
        let difference = actual.abs_diff(expected);
        stats.error(at, expected as f64, difference as f64, self.shift);
        difference == 0 || difference as f64 <= self.tolerance.limit(expected as f64)
    }
}
