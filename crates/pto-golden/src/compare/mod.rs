//! Whether an output is right, and how far from right.
//!
//! What other comparisons let through and this one does not: a finite value where an infinity is expected (the formula
//! of `allclose` is true for it), shapes that merely broadcast, differing dtypes, an output that is missing, and a
//! comparison of no elements at all.

mod criterion;
mod histogram;
mod kernel;
mod per_element;
mod picture;
mod region;
mod report;
mod rule;
mod scan;
mod set;
mod stats;
mod tolerance;
mod top_k;

pub use criterion::Criterion;
pub use histogram::{Bucket, Quantiles};
pub use region::{Region, judge_region};
pub use report::{Difference, Point, Report, Status, Unwritten};
pub use rule::Rule;
pub use set::{SetReport, compare_set, missing, unexpected};
pub use stats::NonFinite;
pub use tolerance::Tolerance;
pub use top_k::top_k;

use crate::{Shape, Tensor};

/// What else a comparison is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// A NaN is right where a NaN is expected. Otherwise a NaN is never right.
    pub equal_nan: bool,
    /// The output's buffer was filled with [`poison`](crate::poison()) before the launch, so elements nobody wrote can
    /// be told. Not so for an `inout` argument.
    pub poisoned: bool,
    /// The declared shape has no element, so there is nothing to compare and that is right. Otherwise a comparison of
    /// nothing does not pass: it is nearly always a dim that was computed wrongly.
    pub allow_empty: bool,
    /// How many mismatches the report lists.
    pub listed: usize,
    /// Why the rule is looser than the default of the dtype; the report repeats it.
    pub reason: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { equal_nan: false, poisoned: false, allow_empty: false, listed: 8, reason: None }
    }
}

/// Compares an output with its golden tensor: every element with [`Tolerance`], non-finite ones by class and sign,
/// integers exactly in their own width.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Tolerance, options: &Options) -> Report {
    judge(actual, expected, &Rule::Close(tolerance), options)
}

/// Judges an output by any rule. For [`Rule::TopK`] see [`top_k`]: indices alone cannot be judged, and are compared exactly
/// here.
pub fn judge(actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options) -> Report {
    if let Some(report) = incomparable(actual, expected, rule, options) {
        return report;
    }
    let rule = if let Rule::TopK { .. } = rule { &Rule::Exact } else { rule };
    let stats = scan::scan(actual, expected, rule, options);
    Report::seen(stats, actual, expected, rule, options)
}

/// The verdict on tensors whose elements need not be looked at.
fn incomparable(actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options) -> Option<Report> {
    let unseen = |status, message| Some(Report::unseen(status, message, expected, rule, options));
    if actual.dtype() != expected.dtype() {
        let message = format!("dtype is {}, expected {}", actual.dtype(), expected.dtype());
        return unseen(Status::DTypeDiffers, message);
    }
    if actual.shape() != expected.shape() {
        let (found, wanted) = (Shape::from(actual.shape()), Shape::from(expected.shape()));
        return unseen(Status::ShapeDiffers, format!("shape is {found}, expected {wanted}; nothing is broadcast"));
    }
    if expected.is_empty() {
        let shape = Shape::from(expected.shape());
        return match options.allow_empty {
            true => unseen(Status::Passed, format!("no elements, as declared: shape {shape}")),
            false => unseen(Status::Empty, format!("nothing was compared: shape {shape} has no elements")),
        };
    }
    None
}
