//! Two tensors as the detectors see them: which elements are wrong, and values at places.

use crate::compare::{Options, Rule};
use crate::element::with_element;
use crate::poison::pattern;
use crate::{Element, Scalar, Tensor, Tolerance};

/// Wrong elements looked at one by one.
const SAMPLES: usize = 4096;

/// Tensors that are not larger are decoded once.
const DECODED: usize = 1 << 22;

fn doubles(tensor: &Tensor) -> Vec<f64> {
    tensor.to_f64().into_iter().collect()
}

/// Two tensors of one dtype and shape.
pub(crate) struct Sight<'a> {
    pub(crate) actual: &'a Tensor,
    pub(crate) expected: &'a Tensor,
    pub(crate) len: usize,
    /// Which elements are wrong.
    pub(crate) wrong: Vec<bool>,
    pub(crate) wrong_count: usize,
    /// Some of the wrong elements, spread over all of them.
    pub(crate) sample: Vec<usize>,
    tolerance: Tolerance,
    equal_nan: bool,
    /// Both as doubles, unless they are large.
    values: Option<(Vec<f64>, Vec<f64>)>,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(actual: &'a Tensor, expected: &'a Tensor, rule: &Rule, options: &Options) -> Self {
        let default = Tolerance::default_for(expected.dtype());
        let own = rule.tolerance(expected.dtype());
        // A pattern may match a little worse than the rule asks; it explains all the same.
        let tolerance = Tolerance { rtol: own.rtol.max(default.rtol), atol: own.atol.max(default.atol) };
        let mut sight = Self {
            actual,
            expected,
            len: expected.len(),
            wrong: Vec::new(),
            wrong_count: 0,
            sample: Vec::new(),
            tolerance,
            equal_nan: options.equal_nan,
            values: (expected.len() <= DECODED).then(|| (doubles(actual), doubles(expected))),
        };
        sight.wrong = sight.mask(own);
        sight.wrong_count = sight.wrong.iter().filter(|wrong| **wrong).count();
        // An odd step sees both of every two neighbours.
        let step = sight.wrong_count.div_ceil(SAMPLES).max(1) | 1;
        let places = sight.wrong.iter().enumerate().filter(|(_, wrong)| **wrong).map(|(at, _)| at);
        sight.sample = places.step_by(step).collect();
        sight
    }

    /// Under rules without a tolerance every element whose bytes differ counts, but for equal zeros.
    fn mask(&self, own: Tolerance) -> Vec<bool> {
        let size = self.expected.dtype().size();
        let pairs = self.actual.bytes().chunks_exact(size).zip(self.expected.bytes().chunks_exact(size));
        with_element!(self.expected.dtype(), T => {
            pairs
                .map(|(a, e)| a != e && !self.agree(Element::to_f64(T::read(a)), Element::to_f64(T::read(e)), own))
                .collect()
        })
    }

    fn agree(&self, a: f64, e: f64, tolerance: Tolerance) -> bool {
        if a.is_finite() && e.is_finite() {
            return (a - e).abs() <= tolerance.atol + tolerance.rtol * e.abs();
        }
        a == e || (self.equal_nan && a.is_nan() && e.is_nan())
    }

    /// Whether `a` would pass for `e`.
    pub(super) fn near(&self, a: f64, e: f64) -> bool {
        self.agree(a, e, self.tolerance)
    }

    pub(crate) fn a(&self, at: usize) -> f64 {
        match &self.values {
            Some((actual, _)) => actual[at],
            None => self.actual.get(at).map_or(f64::NAN, to_f64),
        }
    }

    pub(crate) fn e(&self, at: usize) -> f64 {
        match &self.values {
            Some((_, expected)) => expected[at],
            None => self.expected.get(at).map_or(f64::NAN, to_f64),
        }
    }

    /// Share of the sample for which `is` holds.
    pub(super) fn share(&self, is: impl Fn(usize) -> bool) -> f64 {
        self.sample.iter().filter(|at| is(**at)).count() as f64 / self.sample.len() as f64
    }

    pub(super) fn wrong_hold<'b>(&self, bytes: impl Fn(usize) -> &'b [u8]) -> bool {
        self.share(|at| bytes(at) == self.bytes_of(self.actual, at)) > 0.98
    }

    pub(super) fn bytes_of<'b>(&self, tensor: &'b Tensor, at: usize) -> &'b [u8] {
        let size = tensor.dtype().size();
        &tensor.bytes()[at * size..(at + 1) * size]
    }

    pub(super) fn is_unwritten(&self, at: usize) -> bool {
        self.bytes_of(self.actual, at) == pattern(self.expected.dtype())
    }

    /// Share of all elements that are wrong.
    pub(super) fn wrong_share(&self) -> f64 {
        self.wrong_count as f64 / self.len as f64
    }

    /// Rows and the length of one; a vector has one row.
    pub(crate) fn rows(&self) -> (usize, usize) {
        let last = self.expected.shape().last().copied().unwrap_or(1).max(1);
        (self.len / last, last)
    }

    /// Whether values at different places differ, so that a match says something.
    pub(super) fn is_telling(&self) -> bool {
        let other = |at: usize| (at * 7 + self.len / 3 + 1) % self.len;
        self.len >= 8 && self.share(|at| self.near(self.e(other(at)), self.e(at))) < 0.5
    }
}

pub(super) fn to_f64(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Float(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => value.into(),
    }
}
