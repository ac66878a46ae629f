//! What one pass over two tensors collects. Parts of a tensor are collected apart and merged in order, so the figures
//! do not depend on how many threads did it.

use super::histogram::Histogram;
use super::kernel::Bar;

/// The largest error so far and where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Worst {
    pub(super) error: f64,
    pub(super) at: usize,
}

/// The first of the largest.
pub(super) fn raise(worst: &mut Option<Worst>, error: f64, at: usize) {
    if worst.is_none_or(|worst| error > worst.error) {
        *worst = Some(Worst { error, at });
    }
}

/// First and last element of a set, and how many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Extent {
    pub(super) count: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Extent {
    pub(super) fn add(&mut self, at: usize) {
        if self.count == 0 {
            self.first = at;
        }
        self.last = at;
        self.count += 1;
    }

    fn merge(&mut self, later: Self) {
        match (self.count, later.count) {
            (_, 0) => {}
            (0, _) => *self = later,
            _ => *self = Self { count: self.count + later.count, first: self.first, last: later.last },
        }
    }
}

/// Elements that are not finite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct NonFinite {
    /// How many are NaN.
    pub nan: usize,
    /// How many are infinite.
    pub inf: usize,
}

impl NonFinite {
    fn add(&mut self, value: f64) {
        self.nan += usize::from(value.is_nan());
        self.inf += usize::from(value.is_infinite());
    }

    fn merge(&mut self, other: Self) {
        self.nan += other.nan;
        self.inf += other.inf;
    }
}

/// Sums over the elements that are finite on both sides. `shift` is some expected value: sums of differences from it
/// do not cancel as sums of the values would.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    pub(super) count: usize,
    /// Of `a - e`.
    pub(super) errors: f64,
    pub(super) squared_errors: f64,
    /// Of `e * e`.
    pub(super) squares: f64,
    /// Of `e * (a - e)`.
    pub(super) products: f64,
    /// Of `e - shift`.
    pub(super) shifted: f64,
    pub(super) shifted_squares: f64,
}

impl Sums {
    pub(super) fn add(&mut self, expected: f64, error: f64, shift: f64) {
        self.count += 1;
        self.errors += error;
        self.squared_errors += error * error;
        self.squares += expected * expected;
        self.products += expected * error;
        self.shifted += expected - shift;
        self.shifted_squares += (expected - shift) * (expected - shift);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.squared_errors += other.squared_errors;
        self.squares += other.squares;
        self.products += other.products;
        self.shifted += other.shifted;
        self.shifted_squares += other.shifted_squares;
    }

    /// Root of the mean squared error.
    pub(super) fn rmse(&self) -> Option<f64> {
        finite((self.squared_errors / self.count as f64).sqrt())
    }

    /// The same, relative to the root mean square of the expected values.
    pub(super) fn relative_rmse(&self) -> Option<f64> {
        finite((self.squared_errors / self.squares).sqrt())
    }

    /// Coefficient of determination; undefined where the expected values are all the same.
    pub(super) fn r2(&self) -> Option<f64> {
        let variance = self.shifted_squares - self.shifted * self.shifted / self.count as f64;
        if variance > 0.0 { finite(1.0 - self.squared_errors / variance) } else { None }
    }

    /// Mean of `a - e`: what is left when errors cancel.
    pub(super) fn bias(&self) -> Option<f64> {
        finite(self.errors / self.count as f64)
    }

    /// Of the angle between the tensors.
    pub(super) fn cosine(&self) -> Option<f64> {
        let actual_squares = self.squares + 2.0 * self.products + self.squared_errors;
        finite((self.squares + self.products) / (self.squares * actual_squares).sqrt()).map(|cos| cos.clamp(-1.0, 1.0))
    }

    /// Signal to noise in dB; absent where there is no noise.
    pub(super) fn snr(&self) -> Option<f64> {
        finite(10.0 * (self.squares / self.squared_errors).log10())
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Everything one pass collects.
#[derive(Debug, Clone, Default)]
pub(super) struct Stats {
    pub(super) mismatches: usize,
    /// Mismatches that no pass rate excuses: beyond the cap, or of another class.
    pub(super) hopeless: usize,
    /// The largest finite value where an infinity is expected.
    pub(super) saturated: usize,
    /// Flat indices of the first mismatches.
    pub(super) first: Vec<usize>,
    pub(super) unwritten: Extent,
    pub(super) worst_abs: Option<Worst>,
    pub(super) worst_rel: Option<Worst>,
    pub(super) actual: NonFinite,
    pub(super) expected: NonFinite,
    pub(super) sums: Sums,
    /// Filled when all pieces are there.
    pub(super) histogram: Option<Histogram>,
}

impl Stats {
    pub(super) fn mismatch(&mut self, at: usize, listed: usize) {
        self.mismatches += 1;
        self.list(at, listed);
    }

    pub(super) fn list(&mut self, at: usize, listed: usize) {
        if self.first.len() < listed {
            self.first.push(at);
        }
    }

    pub(super) fn non_finite(&mut self, actual: f64, expected: f64) {
        self.actual.add(actual);
        self.expected.add(expected);
    }

    /// Both finite; `error` is `a - e`. Where the expected value is 0 a relative error means nothing.
    pub(super) fn error(&mut self, at: usize, expected: f64, error: f64, shift: f64) {
        self.raise(at, error, expected);
        self.sums.add(expected, error, shift);
    }

    pub(super) fn raise(&mut self, at: usize, error: f64, expected: f64) {
        raise(&mut self.worst_abs, error.abs(), at);
        if expected != 0.0 {
            raise(&mut self.worst_rel, error.abs() / expected.abs(), at);
        }
    }

    /// What an error must exceed to be the largest.
    pub(super) fn bar(&self) -> Bar {
        Bar {
            absolute: self.worst_abs.map_or(-1.0, |worst| worst.error),
            relative: self.worst_rel.map_or(-1.0, |worst| worst.error),
        }
    }

    /// `later` comes from elements behind these.
    pub(super) fn merge(mut self, later: Self, listed: usize) -> Self {
        self.mismatches += later.mismatches;
        self.hopeless += later.hopeless;
        self.saturated += later.saturated;
        let room = listed.saturating_sub(self.first.len());
        self.first.extend(later.first.into_iter().take(room));
        self.unwritten.merge(later.unwritten);
        for (worst, later) in [(&mut self.worst_abs, later.worst_abs), (&mut self.worst_rel, later.worst_rel)] {
            if let Some(later) = later {
                raise(worst, later.error, later.at);
            }
        }
        self.actual.merge(later.actual);
        self.expected.merge(later.expected);
        self.sums.merge(later.sums);
        self
    }
}
