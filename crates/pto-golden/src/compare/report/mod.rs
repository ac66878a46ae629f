//! What a comparison found.

mod words;

use serde::Serialize;

use super::histogram::{Bucket, Quantiles};
use super::picture;
use super::stats::{self, NonFinite, Stats};
use super::{Options, Rule, Tolerance};
use crate::pattern::{self, Clues, Pattern, Sight};
use crate::poison::may_be_chance;
use crate::{DType, Scalar, Tensor};

/// The verdict on one output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every element is within the tolerance.
    Passed,
    /// Elements are outside the tolerance.
    Differs,
    /// Every element still holds the pattern the buffer was filled with.
    NeverWritten,
    /// Some elements still hold the pattern.
    PartlyWritten,
    /// The shapes are not the same; nothing was broadcast and nothing compared.
    ShapeDiffers,
    /// The element types are not the same; nothing was compared.
    #[serde(rename = "dtype_differs")]
    DTypeDiffers,
    /// There is no element, so nothing was compared.
    Empty,
    /// There is a golden tensor and no output of that name.
    Missing,
    /// There is an output and no golden tensor of that name.
    Unexpected,
}

/// Two elements at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Logical coordinates.
    pub index: Vec<usize>,
    /// What the kernel gave.
    pub actual: Scalar,
    /// What it should have given.
    pub expected: Scalar,
    /// The absolute error, or for `worst_rel` the relative one; absent where an element is not finite.
    pub error: Option<f64>,
}

/// Elements that nobody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unwritten {
    /// How many.
    pub count: usize,
    /// Coordinates of the first in row-major order.
    pub first: Vec<usize>,
    /// Coordinates of the last.
    pub last: Vec<usize>,
}

/// What a comparison of one output found. Figures about errors are over the elements that were
/// written and are finite on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The verdict.
    pub status: Status,
    /// The verdict in one line.
    pub message: String,
    /// Element type of the golden tensor, or of the output if there is none.
    pub dtype: DType,
    /// Shape of the same.
    pub shape: Vec<usize>,
    /// Elements compared.
    pub elements: usize,
    /// Elements outside the tolerance, the unwritten ones among them.
    pub mismatches: usize,
    /// Elements that still hold the pattern.
    pub unwritten: Option<Unwritten>,
    /// Largest `|a - e|`.
    pub worst_abs: Option<Difference>,
    /// Largest `|a - e| / |e|` where `e` is not 0.
    pub worst_rel: Option<Difference>,
    /// The first mismatches in row-major order, of the elements that were written.
    pub first: Vec<Difference>,
    /// NaN and infinite elements of the output.
    pub actual_non_finite: NonFinite,
    /// The same of the golden tensor.
    pub expected_non_finite: NonFinite,
    /// Root mean squared error.
    pub rmse: Option<f64>,
    /// The same relative to the root mean square of the golden values.
    pub relative_rmse: Option<f64>,
    /// Coefficient of determination; absent where the golden values are all the same.
    pub r2: Option<f64>,
    /// Mean of `a - e`.
    pub bias: Option<f64>,
    /// Cosine of the angle between output and golden.
    pub cosine: Option<f64>,
    /// Ratio of signal to noise in dB; absent where all is equal.
    pub snr: Option<f64>,
    /// Absolute errors that a share of the elements do not exceed.
    pub quantiles: Option<Quantiles>,
    /// Absolute errors by powers of two.
    pub histogram: Vec<Bucket>,
    /// Elements that hold the largest finite value of their type where an infinity of the same sign is expected.
    pub saturated: usize,
    /// Elements that no pass rate excuses: beyond the cap, or of another class.
    pub hopeless: usize,
    /// The tolerance that single elements were held against.
    pub tolerance: Tolerance,
    /// The rule in words.
    pub rule: String,
    /// Why the rule is looser than the default of the dtype, where it is.
    pub reason: Option<String>,
    /// What is doubtful about the rule.
    pub warnings: Vec<String>,
    /// How it is wrong, the likeliest first.
    pub patterns: Vec<Pattern>,
    /// Where it is wrong: lines of digits, each for a part of the tensor, from 0 (nothing) to 9 (everything). Rows are those of
    /// the tensor, columns its last axis; a vector is written like text. Empty where nothing is wrong.
    pub map: Vec<String>,
    /// Some elements, spread over the tensor, for a plot; only where something is wrong.
    #[serde(skip)]
    pub points: Vec<Point>,
}

/// An element of a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// What was expected.
    pub expected: f64,
    /// What there is.
    pub actual: f64,
    /// Whether it is outside of the tolerance.
    pub wrong: bool,
}

impl Report {
    /// Whether the output is right.
    pub fn passed(&self) -> bool {
        self.status == Status::Passed
    }

    /// A verdict reached without looking at any element.
    pub(super) fn unseen(status: Status, message: String, about: &Tensor, rule: &Rule, options: &Options) -> Self {
        Self {
            status,
            message,
            dtype: about.dtype(),
            shape: about.shape().to_vec(),
            elements: 0,
            mismatches: 0,
            unwritten: None,
            worst_abs: None,
            worst_rel: None,
            first: Vec::new(),
            actual_non_finite: NonFinite::default(),
            expected_non_finite: NonFinite::default(),
            rmse: None,
            relative_rmse: None,
            r2: None,
            bias: None,
            cosine: None,
            snr: None,
            quantiles: None,
            histogram: Vec::new(),
            saturated: 0,
            hopeless: 0,
            tolerance: rule.tolerance(about.dtype()),
            rule: rule.to_string(),
            reason: options.reason.clone(),
            warnings: rule.warnings(),
            patterns: Vec::new(),
            map: Vec::new(),
            points: Vec::new(),
        }
    }

    /// The verdict on tensors of one dtype and one shape.
    pub(super) fn seen(stats: Stats, actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options) -> Self {
        let difference = |at: usize, error: Option<f64>| {
            let (actual, golden) = (actual.get(at)?, expected.get(at)?);
            Some(Difference { index: expected.coordinates(at), actual, expected: golden, error })
        };
        let worst = |worst: Option<stats::Worst>| worst.and_then(|worst| difference(worst.at, Some(worst.error)));
        let extent = stats.unwritten;
        let credible = credible(expected.dtype(), expected.len(), stats.mismatches, extent.count);
        let unwritten = (credible && extent.count > 0).then(|| Unwritten {
            count: extent.count,
            first: expected.coordinates(extent.first),
            last: expected.coordinates(extent.last),
        });
        let mut report = Self {
            elements: expected.len(),
            mismatches: stats.mismatches,
            worst_abs: worst(stats.worst_abs),
            worst_rel: worst(stats.worst_rel),
            first: stats
                .first
                .iter()
                .filter_map(|at| difference(*at, absolute(actual.get(*at)?, expected.get(*at)?)))
                .collect(),
            actual_non_finite: stats.actual,
            expected_non_finite: stats.expected,
            rmse: stats.sums.rmse(),
            relative_rmse: stats.sums.relative_rmse(),
            r2: stats.sums.r2(),
            bias: stats.sums.bias(),
            cosine: stats.sums.cosine(),
            snr: stats.sums.snr(),
            quantiles: stats.histogram.as_ref().and_then(|all| all.quantiles(stats.worst_abs?.error)),
            histogram: stats.histogram.as_ref().map(|all| all.buckets()).unwrap_or_default(),
            saturated: stats.saturated,
            hopeless: stats.hopeless,
            unwritten,
            ..Self::unseen(Status::Passed, String::new(), expected, rule, options)
        };
        report.status = report.judge(rule);
        report.message = report.verdict(rule, options);
        if !report.passed() {
            report.look_closer(actual, expected, rule, options);
        }
        report
    }

    /// What only a wrong output needs, and costs another pass.
    fn look_closer(&mut self, actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options) {
        if pattern::is_searched(expected.len()) {
            let sight = Sight::new(actual, expected, rule, options);
            self.patterns = pattern::find_in(&sight, &Clues::default());
            self.map = picture::map(&sight);
            self.points = picture::points(&sight);
        }
    }

    fn judge(&self, rule: &Rule) -> Status {
        let right = match *rule {
            Rule::PassRate { rate, .. } | Rule::Floored { rate, .. } => self.hopeless == 0 && self.pass_rate() >= rate,
            Rule::Whole { rmse, r2, cosine, snr } => {
                // Without noise there is no SNR, and without variance no R2: then the RMSE decides, or equality.
                let equal = self.worst_abs.as_ref().is_none_or(|worst| worst.error == Some(0.0));
                let least =
                    |found: Option<f64>, least: f64| least == f64::NEG_INFINITY || equal || found >= Some(least);
                let small = rmse == f64::INFINITY || equal || self.relative_rmse.is_some_and(|found| found <= rmse);
                self.hopeless == 0 && small && least(self.r2, r2) && least(self.cosine, cosine) && least(self.snr, snr)
            }
            _ => self.mismatches == 0,
        };
        match &self.unwritten {
            Some(unwritten) if unwritten.count == self.elements => Status::NeverWritten,
            Some(_) => Status::PartlyWritten,
            None if right => Status::Passed,
            None => Status::Differs,
        }
    }

    /// The share of the elements that are right.
    pub fn pass_rate(&self) -> f64 {
        (self.elements - self.mismatches) as f64 / self.elements as f64
    }
}

/// Where the pattern may be chance, a few elements that hold it prove nothing.
fn credible(dtype: DType, elements: usize, mismatches: usize, unwritten: usize) -> bool {
    const FEW: usize = 8;
    const FAR_FROM_CHANCE: usize = 16;
    !may_be_chance(dtype) || unwritten == elements || (unwritten >= FEW && unwritten * FAR_FROM_CHANCE >= mismatches)
}

fn absolute(actual: Scalar, expected: Scalar) -> Option<f64> {
    match (actual, expected) {
        (Scalar::Int(a), Scalar::Int(e)) => Some(a.abs_diff(e) as f64),
        (Scalar::Float(a), Scalar::Float(e)) => Some((a - e).abs()).filter(|error| error.is_finite()),
        _ => None,
    }
}
