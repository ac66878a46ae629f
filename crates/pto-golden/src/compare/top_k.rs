//! Indices of the largest: equal scores may be named in any order.

use std::collections::HashSet;

use super::{Difference, Options, Report, Rule, Status, Tolerance, incomparable, judge};
use crate::{DTypeKind, Scalar, Tensor};

/// Judges indices by the scores that they select. `scores` has the shape of the indices but for its last axis, which the
/// indices count. An index out of range, or twice in a row, is wrong. Figures in the report are of scores.
pub fn top_k(actual: &Tensor, expected: &Tensor, scores: &Tensor, tolerance: Tolerance, options: &Options) -> Report {
    let rule = Rule::TopK { rtol: tolerance.rtol, atol: tolerance.atol };
    if let Some(report) = incomparable(actual, expected, &rule, options) {
        return report;
    }
    let refused = |message: String| Report::unseen(Status::ShapeDiffers, message, expected, &rule, options);
    if !matches!(expected.dtype().kind(), DTypeKind::Signed | DTypeKind::Unsigned) {
        return refused(format!("indices are integers, found {}", expected.dtype()));
    }
    let (Some((k, rows)), Some((n, score_rows))) = (expected.shape().split_last(), scores.shape().split_last()) else {
        return refused("indices and scores need an axis".to_owned());
    };
    if rows != score_rows {
        return refused(format!("scores of shape {:?} for indices of shape {:?}", scores.shape(), expected.shape()));
    }
    let picked = |indices: &Tensor| pick(indices, scores, *k, *n);
    let ((gathered, mut invalid), (golden, bad_golden)) = (picked(actual), picked(expected));
    if let Some(at) = bad_golden.first() {
        return refused(format!(
            "the expected index at {:?} is out of range or there twice",
            expected.coordinates(*at)
        ));
    }
    let mut report = judge(&gathered, &golden, &Rule::Close(tolerance), options);
    let ties = (0..expected.len()).filter(|at| actual.get(*at) != expected.get(*at)).count();
    report.dtype = expected.dtype();
    report.rule = rule.to_string();
    report.patterns.clear(); // those of scores mean nothing for indices
    let message = std::mem::take(&mut report.message);
    report.message = format!("scores: {message}; {ties} of {} indices differ", expected.len());
    if !invalid.is_empty() {
        report.status = Status::Differs;
        report.mismatches = report.mismatches.max(invalid.len());
        report.hopeless += invalid.len();
        let first = expected.coordinates(invalid[0]);
        report.message =
            format!("{} indices out of range or there twice, first at {first:?}; {}", invalid.len(), report.message);
        invalid.truncate(options.listed);
        let list = |at: &usize| {
            let (found, wanted) = (actual.get(*at)?, expected.get(*at)?);
            Some(Difference { index: expected.coordinates(*at), actual: found, expected: wanted, error: None })
        };
        report.first = invalid.iter().filter_map(list).collect();
    }
    report
}

/// The scores that indices select, and where there is no such index or it was there before. Those select the first.
fn pick(indices: &Tensor, scores: &Tensor, k: usize, n: usize) -> (Tensor, Vec<usize>) {
    let size = scores.dtype().size();
    let mut bytes = Vec::with_capacity(indices.len() * size);
    let mut invalid = Vec::new();
    let mut seen = HashSet::new();
    for at in 0..indices.len() {
        let row = at / k;
        if at % k == 0 {
            seen.clear();
        }
        let index = match indices.get(at) {
            Some(Scalar::Int(index)) => usize::try_from(index).ok().filter(|index| *index < n && seen.insert(*index)),
            _ => None,
        };
        if index.is_none() {
            invalid.push(at);
        }
        let from = (row * n + index.unwrap_or(0)) * size;
        bytes.extend(scores.bytes().get(from..from + size).unwrap_or(&[0; 8][..size]));
    }
    match Tensor::new(scores.dtype(), indices.shape(), bytes) {
        Ok(picked) => (picked, invalid),
        Err(_) => unreachable!("one score per index"),
    }
}
