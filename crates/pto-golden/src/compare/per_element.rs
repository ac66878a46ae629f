//! How a single element is judged.

use super::Rule;
use super::kernel::Limit;
use super::scan::scalar_to_f64;
use crate::{Element, Scalar};

/// What a rule asks of one element.
#[derive(Debug, Clone, Copy)]
pub(super) enum PerElement {
    /// A difference below a limit.
    Limit(Limit),
    /// At most so many numbers of the type further.
    Ulp(u64),
    /// The same bits.
    Bits,
    /// Both finite, or non-finite of the same kind: the rule looks at figures of the whole tensor.
    Class,
}

impl PerElement {
    pub(super) fn of(rule: &Rule) -> Self {
        let limit = |rtol, atol, floor, cap| Self::Limit(Limit { rtol, atol, floor, cap });
        match *rule {
            Rule::Close(tolerance) => limit(tolerance.rtol, tolerance.atol, 0.0, 1.0),
            Rule::Exact => limit(0.0, 0.0, 0.0, 1.0),
            Rule::PassRate { rtol, atol, cap, .. } => limit(rtol, atol, 0.0, cap),
            Rule::Floored { rel, floor, cap, .. } => limit(rel, 0.0, floor, cap),
            Rule::TopK { rtol, atol } => limit(rtol, atol, 0.0, 1.0),
            Rule::Quantized { steps, .. } => limit(0.0, steps as f64, 0.0, 1.0),
            Rule::Ulp { max } => Self::Ulp(max),
            Rule::BitExact | Rule::Determinism => Self::Bits,
            Rule::Whole { .. } => Self::Class,
        }
    }

    /// Classes first: the formula would let any finite value pass for an infinity, and no infinity for itself.
    pub(super) fn float_is_right<T: Element>(&self, actual: &[u8], expected: &[u8], equal_nan: bool) -> bool {
        let (a, e) = (T::read(actual).to_f64(), T::read(expected).to_f64());
        match self {
            Self::Bits => actual == expected,
            _ if !(a.is_finite() && e.is_finite()) => a == e || (a.is_nan() && e.is_nan() && equal_nan),
            Self::Limit(limit) => (a - e).abs() <= limit.of(e.abs()),
            Self::Ulp(max) => within_ulps(T::read(actual), T::read(expected), *max),
            Self::Class => true,
        }
    }

    /// The difference is exact; only a tolerance that is not 0 needs it as a double.
    pub(super) fn integer_is_right(&self, a: i128, e: i128) -> bool {
        let difference = a.abs_diff(e);
        match self {
            _ if difference == 0 => true,
            Self::Limit(limit) => difference as f64 <= limit.of((e as f64).abs()),
            Self::Ulp(max) => difference <= u128::from(*max),
            Self::Bits => false,
            Self::Class => true,
        }
    }

    /// Whether a pass rate may excuse a wrong element.
    pub(super) fn is_excusable(&self, a: Scalar, e: Scalar) -> bool {
        let Self::Limit(limit) = self else { return false };
        match (a, e) {
            (Scalar::Int(a), Scalar::Int(e)) => a.abs_diff(e) as f64 <= limit.hard((e as f64).abs()),
            (a, e) => {
                let (a, e) = (scalar_to_f64(a), scalar_to_f64(e));
                a.is_finite() && e.is_finite() && (a - e).abs() <= limit.hard(e.abs())
            }
        }
    }
}

pub(super) fn within_ulps<T: Element>(a: T, e: T, max: u64) -> bool {
    match (a.ordinal(), e.ordinal()) {
        (Some(a), Some(e)) => a.abs_diff(e) <= max,
        _ => T::DTYPE.int_range().is_some() && (a.to_f64() - e.to_f64()).abs() <= max as f64,
    }
}
