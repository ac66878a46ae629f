//! The pass over two tensors of one dtype and one shape.

use rayon::prelude::*;

use super::stats::{Stats, Sums, Worst, raise};
use super::{Options, Tolerance};
use crate::element::with_element;
use crate::poison::{may_be_chance, pattern};
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
    let values = (0..expected.len().min(LOOKED_AT)).filter_map(|i| expected.get(i)).map(scalar_to_f64);
    values.into_iter().find(|value| value.is_finite()).unwrap_or(0.0)
}

fn scalar_to_f64(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Float(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => value.into(),
    }
}

/// What a block of agreeing elements adds up to, lane by lane.
#[derive(Default)]
struct Lanes {
    disagree: [bool; LANES],
    worst_abs: [f64; LANES],
    worst_rel: [f64; LANES],
    squared_errors: [f64; LANES],
    squares: [f64; LANES],
    shifted: [f64; LANES],
    shifted_squares: [f64; LANES],
}

impl Lanes {
    fn sums(&self) -> Sums {
        let total = |lanes: &[f64; LANES]| lanes.iter().sum();
        Sums {
            count: BLOCK,
            squared_errors: total(&self.squared_errors),
            squares: total(&self.squares),
            shifted: total(&self.shifted),
            shifted_squares: total(&self.shifted_squares),
        }
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

    /// If the block is a full one and every element is finite and within tolerance, counts it in and says so; else
    /// does nothing.
    fn agreeing_block(&self, start: usize, actual: &[f64], expected: &[f64], stats: &mut Stats) -> bool {
        let (Ok(actual), Ok(expected)) = (actual.try_into(), expected.try_into()) else { return false };
        let lanes = self.lanes(actual, expected);
        if lanes.disagree.contains(&true) {
            return false;
        }
        stats.sums.merge(lanes.sums());
        let improves = |worst: Option<Worst>, found: &[f64; LANES]| {
            found.iter().any(|found| worst.is_none_or(|worst| *found > worst.error))
        };
        if improves(stats.worst_abs, &lanes.worst_abs) || improves(stats.worst_rel, &lanes.worst_rel) {
            for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
                raise(&mut stats.worst_abs, (a - e).abs(), start + i);
                if *e != 0.0 {
                    raise(&mut stats.worst_rel, (a - e).abs() / e.abs(), start + i);
                }
            }
        }
        true
    }

    /// A NaN or an infinity on either side gives a difference that is no number within any limit, so it disagrees.
    fn lanes(&self, actual: &[f64; BLOCK], expected: &[f64; BLOCK]) -> Lanes {
        let mut lanes = Lanes::default();
        let (tolerance, shift) = (self.tolerance, self.shift);
        for (actual, expected) in actual.as_chunks::<LANES>().0.iter().zip(expected.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let (a, e) = (actual[lane], expected[lane]);
                let (error, magnitude) = ((a - e).abs(), e.abs());
                let limit = tolerance.limit(e);
                let relative = if magnitude == 0.0 { 0.0 } else { error / magnitude };
                let (worst_abs, worst_rel) = (lanes.worst_abs[lane], lanes.worst_rel[lane]);
                let agrees = error <= limit; // not so for a NaN
                lanes.disagree[lane] |= !agrees;
                lanes.worst_abs[lane] = if error > worst_abs { error } else { worst_abs };
                lanes.worst_rel[lane] = if relative > worst_rel { relative } else { worst_rel };
                lanes.squared_errors[lane] += error * error;
                lanes.squares[lane] += e * e;
                lanes.shifted[lane] += e - shift;
                lanes.shifted_squares[lane] += (e - shift) * (e - shift);
            }
        }
        lanes
    }

    fn slow_block<T: Element>(&self, start: usize, actual: &[u8], expected: &[u8], stats: &mut Stats) {
        let size = size_of::<T>();
        for (i, (actual, expected)) in actual.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
            let at = start + i;
            let (a, e) = (T::read(actual).to_scalar(), T::read(expected).to_scalar());
            let (a, e) = match (a, e) {
                // A byte that is neither 0 nor 1 is no truth value, even if it would read as the right one.
                (Scalar::Bool(_), _) => (Scalar::Int(actual[0].into()), Scalar::Int(expected[0].into())),
                pair => pair,
            };
            let patterned = self.options.poisoned && actual == self.pattern && expected != self.pattern;
            if patterned && self.is_unwritten(a, e) {
                stats.unwritten(at);
                if !may_be_chance(T::DTYPE) {
                    stats.mismatches += 1;
                    continue; // what was in memory says nothing about the kernel's numbers
                }
            }
            let equal = match (a, e) {
                (Scalar::Int(a), Scalar::Int(e)) => self.integers(at, a, e, stats),
                _ => self.floats(at, scalar_to_f64(a), scalar_to_f64(e), stats),
            };
            if !equal {
                stats.mismatch(at, self.options.listed);
            }
        }
    }

    /// An element that holds the pattern where another value is expected. A float that does is a NaN, which may be
    /// allowed; nobody wrote it all the same. An integer may be within its tolerance.
    fn is_unwritten(&self, actual: Scalar, expected: Scalar) -> bool {
        match (actual, expected) {
            (Scalar::Int(a), Scalar::Int(e)) => !self.within(a.abs_diff(e), e),
            _ => true,
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

    fn integers(&self, at: usize, actual: i128, expected: i128, stats: &mut Stats) -> bool {
        let difference = actual.abs_diff(expected);
        stats.error(at, expected as f64, difference as f64, self.shift);
        self.within(difference, expected)
    }

    /// The difference is exact; only a tolerance that is not 0 needs it as a double.
    fn within(&self, difference: u128, expected: i128) -> bool {
        difference == 0 || difference as f64 <= self.tolerance.limit(expected as f64)
    }
}
