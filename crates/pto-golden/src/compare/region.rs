//! The part of a tensor that means something. Kernels write whole tiles, so a buffer may be larger than its data.

use super::{Difference, Options, Report, Rule, Status, judge};
use crate::{Shape, Tensor};

/// Where the data are: from the first element of every axis up to these sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Sizes of the valid part, one for each axis, none larger than the axis.
    pub valid: Vec<usize>,
    /// What lies behind must be zero; else it may be anything.
    pub zero_tail: bool,
}

/// Judges the valid part of an output by a rule, and the rest by whether it is zero. Both tensors have the shape of the
/// buffer, or the expected one has only the valid part. Coordinates in the report are those of the buffer.
pub fn judge_region(actual: &Tensor, expected: &Tensor, region: &Region, rule: &Rule, options: &Options) -> Report {
    let buffer = actual.shape();
    let fits = buffer.len() == region.valid.len() && region.valid.iter().zip(buffer).all(|(valid, size)| valid <= size);
    if !fits {
        let (valid, shape) = (Shape::from(region.valid.as_slice()), Shape::from(buffer));
        let message = format!("the valid region {valid} does not lie in shape {shape}");
        return Report::unseen(Status::ShapeDiffers, message, expected, rule, options);
    }
    let inside = part(actual, &region.valid);
    let expected = if expected.shape() == buffer { part(expected, &region.valid) } else { expected.clone() };
    let mut report = judge(&inside, &expected, rule, options);
    report.message = format!("{} (in the valid region {})", report.message, Shape::from(region.valid.as_slice()));
    if region.zero_tail {
        refuse_tail(actual, region, options, &mut report);
    }
    report
}

/// The elements of the valid part, in order.
fn part(tensor: &Tensor, valid: &[usize]) -> Tensor {
    if tensor.shape() == valid {
        return tensor.clone();
    }
    let size = tensor.dtype().size();
    let row = valid.last().map_or(size, |last| last * size);
    let mut bytes = Vec::with_capacity(valid.iter().product::<usize>() * size);
    for_each_row(tensor.shape(), valid, |at| bytes.extend_from_slice(&tensor.bytes()[at * size..at * size + row]));
    match Tensor::new(tensor.dtype(), valid, bytes) {
        Ok(part) => part,
        Err(_) => unreachable!("the rows of the region are as many as its elements"),
    }
}

/// The index of the first element of every row along the last axis.
fn for_each_row(shape: &[usize], valid: &[usize], mut each: impl FnMut(usize)) {
    let rows: usize = valid.iter().rev().skip(1).product();
    if valid.contains(&0) {
        return;
    }
    for row in 0..rows {
        let (mut rest, mut at, mut stride) = (row, 0, shape.last().copied().unwrap_or(1));
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            at += rest % valid[axis] * stride;
            rest /= valid[axis];
            stride *= shape[axis];
        }
        each(at);
    }
}

fn refuse_tail(actual: &Tensor, region: &Region, options: &Options, report: &mut Report) {
    let size = actual.dtype().size();
    let is_zero = |at: usize| actual.bytes()[at * size..(at + 1) * size].iter().all(|byte| *byte == 0);
    let outside = |at: usize| {
        let place = actual.coordinates(at);
        place.iter().zip(&region.valid).any(|(index, valid)| index >= valid)
    };
    let mut wrong = (0..actual.len()).filter(|at| !is_zero(*at) && outside(*at));
    let Some(first) = wrong.next() else { return };
    let count = 1 + wrong.count();
    let index = actual.coordinates(first);
    report.message =
        format!("{count} elements behind the valid region are not zero, first at {index:?}; {}", report.message);
    report.mismatches += count;
    report.hopeless += count;
    report.elements = actual.len();
    if let (Some(found), true) = (actual.get(first), report.first.len() < options.listed.max(1)) {
        let zero = match found {
            crate::Scalar::Float(_) => crate::Scalar::Float(0.0),
            _ => crate::Scalar::Int(0),
        };
        report.first.push(Difference { index, actual: found, expected: zero, error: None });
    }
    if report.passed() {
        report.status = Status::Differs;
    }
}
