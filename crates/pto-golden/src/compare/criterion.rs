//! All that one tensor is judged by.

use super::{Options, Region, Report, Rule, Tolerance, judge, judge_region, missing, top_k};
use crate::Tensor;

/// A rule and what it is applied to.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// What makes an element right.
    pub rule: Rule,
    /// What else the comparison is told.
    pub options: Options,
    /// The part that means something; `None` is all of it.
    pub region: Option<Region>,
    /// For [`Rule::TopK`], the scores that indices select; without them indices are compared exactly.
    pub scores: Option<Tensor>,
}

impl Criterion {
    /// A rule for a whole tensor.
    pub fn new(rule: Rule, options: Options) -> Self {
        Self { rule, options, region: None, scores: None }
    }

    /// Judges an output that is there.
    pub fn judge(&self, actual: &Tensor, expected: &Tensor) -> Report {
        let Self { rule, options, region, scores } = self;
        match (*rule, scores, region) {
            (Rule::TopK { rtol, atol }, Some(scores), _) => {
                top_k(actual, expected, scores, Tolerance { rtol, atol }, options)
            }
            (_, _, Some(region)) => judge_region(actual, expected, region, rule, options),
            _ => judge(actual, expected, rule, options),
        }
    }

    /// The verdict on a golden tensor without an output.
    pub fn missing(&self, expected: &Tensor) -> Report {
        missing(expected, &self.rule, &self.options)
    }
}
