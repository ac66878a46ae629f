//! Reductions over axes, and changes of shape.

use ndarray::{ArrayView1, Axis, IxDyn, Zip};

use super::arith::{Trouble, maximum, minimum};
use super::function::Reduction;
use super::value::{Shared, TensorValue, map};

/// An axis as written, counted from the end if negative.
pub(super) fn axis(written: i128, axes: usize) -> Option<usize> {
    let axis = if written < 0 { written.checked_add(axes as i128)? } else { written };
    usize::try_from(axis).ok().filter(|axis| *axis < axes)
}

/// Why a reduction has no value.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The largest of nothing.
    Empty,
    Integer(Trouble),
}

/// Over `axes`, which are distinct and in range.
pub(super) fn reduce(
    reduction: Reduction,
    value: TensorValue,
    axes: &[usize],
    keepdims: bool,
) -> Result<TensorValue, Refusal> {
    let count: usize = axes.iter().map(|axis| value.shape()[*axis]).product();
    if count == 0 && matches!(reduction, Reduction::Max | Reduction::Min) {
        return Err(Refusal::Empty);
    }
    match value {
        TensorValue::Int(values) if reduction != Reduction::Mean => {
            let reduced = over(&values, axes, keepdims, |lane| exact_lane(reduction, lane).map_err(Refusal::Integer));
            Ok(TensorValue::Int(reduced?))
        }
        value => {
            let lane = |lane: ArrayView1<'_, f64>| Ok(real_lane(reduction, lane));
            let reduced = over(&value.into_real(), axes, keepdims, lane)?;
            if reduction == Reduction::Mean {
                return Ok(TensorValue::Real(map(&reduced, |sum| sum / count as f64)));
            }
            Ok(TensorValue::Real(reduced))
        }
    }
}

/// The mean is a sum here; it is divided once, over all axes.
fn real_lane(reduction: Reduction, lane: ArrayView1<'_, f64>) -> f64 {
    let fold = |first: f64, f: fn(f64, f64) -> f64| lane.iter().fold(first, |so_far, value| f(so_far, *value));
    match reduction {
        Reduction::Max => fold(f64::NEG_INFINITY, maximum),
        Reduction::Min => fold(f64::INFINITY, minimum),
        Reduction::Prod => fold(1.0, |a, b| a * b),
        Reduction::Mean | Reduction::Sum => lane.sum(),
    }
}

fn exact_lane(reduction: Reduction, lane: ArrayView1<'_, i128>) -> Result<i128, Trouble> {
    let mut values = lane.iter();
    let value = match reduction {
        Reduction::Max => values.max().copied(),
        Reduction::Min => values.min().copied(),
        Reduction::Prod => values.try_fold(1i128, |a, b| a.checked_mul(*b)),
        Reduction::Mean | Reduction::Sum => values.try_fold(0i128, |a, b| a.checked_add(*b)),
    };
    value.ok_or(Trouble::Overflow)
}

/// Moves `axes` to the end, makes them one, and reduces each lane.
fn over<T: Clone + Send + Sync>(
    values: &Shared<T>,
    axes: &[usize],
    keepdims: bool,
    lane: impl Fn(ArrayView1<'_, T>) -> Result<T, Refusal> + Sync + Send,
) -> Result<Shared<T>, Refusal> {
    let kept: Vec<usize> = (0..values.ndim()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let size = |axes: &[usize]| axes.iter().map(|axis| values.shape()[*axis]).product::<usize>();
    let rows = values.view().permuted_axes(IxDyn(&order));
    let rows = rows.to_shape((size(&kept), size(axes))).map_err(|_| Refusal::Empty)?;
    let reduced = Zip::from(rows.rows()).par_map_collect(lane);
    let reduced = reduced.into_iter().collect::<Result<Vec<T>, Refusal>>()?;
    let shape: Vec<usize> = match keepdims {
        true => (0..values.ndim()).map(|axis| if axes.contains(&axis) { 1 } else { values.shape()[axis] }).collect(),
        false => kept.iter().map(|axis| values.shape()[*axis]).collect(),
    };
    Shared::from_shape_vec(IxDyn(&shape), reduced).map_err(|_| Refusal::Empty)
}

/// `exp(x)` over its sum, after taking the largest away so that nothing overflows.
pub(super) fn softmax(mut values: Shared<f64>, axis: usize) -> Shared<f64> {
    for mut lane in values.lanes_mut(Axis(axis)) {
        let largest = lane.iter().copied().fold(f64::NEG_INFINITY, maximum);
        lane.mapv_inplace(|value| (value - largest).exp());
        let sum = lane.sum();
        lane.mapv_inplace(|value| value / sum);
    }
    values
}

/// Axes in another order.
pub(super) fn transpose(value: TensorValue, order: &[usize]) -> TensorValue {
    match value {
        TensorValue::Real(values) => TensorValue::Real(values.permuted_axes(IxDyn(order))),
        TensorValue::Int(values) => TensorValue::Int(values.permuted_axes(IxDyn(order))),
    }
}

/// The same elements in row-major order under another shape; `None` if there are more or fewer.
pub(super) fn reshape(value: &TensorValue, shape: &[usize]) -> Option<TensorValue> {
    Some(match value {
        TensorValue::Real(values) => TensorValue::Real(values.to_shape(IxDyn(shape)).ok()?.into_owned().into_shared()),
        TensorValue::Int(values) => TensorValue::Int(values.to_shape(IxDyn(shape)).ok()?.into_owned().into_shared()),
    })
}
