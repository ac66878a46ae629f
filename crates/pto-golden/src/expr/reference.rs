//! What kernels compute that NumPy has no name for, in doubles and in a fixed order.

use ndarray::parallel::prelude::*;
use ndarray::{ArrayView1, Axis, IxDyn};

use super::function::{Norm, Top};
use super::value::{Shared, TensorValue};
use crate::DType;

/// Along one axis: minus the mean, if it is taken away, over the root of the mean square plus `eps`.
pub(super) fn normalize(norm: Norm, mut values: Shared<f64>, axis: usize, eps: f64) -> Shared<f64> {
    let count = values.shape()[axis] as f64;
    for mut lane in values.lanes_mut(Axis(axis)) {
        if norm == Norm::Layer {
            let mean = lane.sum() / count;
            lane.mapv_inplace(|value| value - mean);
        }
        let square = lane.fold(0.0, |sum, value| sum + value * value) / count;
        let root = (square + eps).sqrt();
        lane.mapv_inplace(|value| value / root);
    }
    values
}

/// `numpy.take`: the axis becomes the axes of the indices. The index that is not there, if any; negative ones count from
/// the end.
pub(super) fn gather(value: &TensorValue, indices: &Shared<i128>, axis: usize) -> Result<TensorValue, i128> {
    let size = value.shape()[axis] as i128;
    let place = |index: &i128| {
        let from_start = if *index < 0 { index + size } else { *index };
        if (0..size).contains(&from_start) { Ok(from_start as usize) } else { Err(*index) }
    };
    let places = indices.iter().map(place).collect::<Result<Vec<usize>, i128>>()?;
    let shape = value.shape();
    let result: Vec<usize> = shape[..axis].iter().chain(indices.shape()).chain(&shape[axis + 1..]).copied().collect();
    let whole = "as many elements as were picked";
    Ok(match value {
        TensorValue::Real(values) => TensorValue::Real(picked(values, &places, axis, &result).expect(whole)),
        TensorValue::Int(values) => TensorValue::Int(picked(values, &places, axis, &result).expect(whole)),
    })
}

fn picked<T: Clone>(values: &Shared<T>, places: &[usize], axis: usize, shape: &[usize]) -> Option<Shared<T>> {
    let picked = values.select(Axis(axis), places);
    let elements: Vec<T> = picked.iter().cloned().collect();
    Shared::from_shape_vec(IxDyn(shape), elements).ok()
}

/// The `k` largest along an axis, the largest first; of equal ones the first is first. A NaN is larger than any number,
/// as in torch.
pub(super) fn top_k(top: Top, value: TensorValue, k: usize, axis: usize) -> TensorValue {
    match value {
        TensorValue::Real(values) => {
            let larger = |a: &f64, b: &f64| match (a.is_nan(), b.is_nan()) {
                (false, false) => b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal),
                (a, b) => b.cmp(&a),
            };
            of_lanes(top, &values, k, axis, larger, TensorValue::Real)
        }
        TensorValue::Int(values) => of_lanes(top, &values, k, axis, |a: &i128, b: &i128| b.cmp(a), TensorValue::Int),
    }
}

fn of_lanes<T: Copy + Send + Sync + Default>(
    top: Top,
    values: &Shared<T>,
    k: usize,
    axis: usize,
    order: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
    wrap: impl Fn(Shared<T>) -> TensorValue,
) -> TensorValue {
    let indices = |lane: ArrayView1<'_, T>| {
        let mut all: Vec<usize> = (0..lane.len()).collect();
        all.sort_by(|a, b| order(&lane[*a], &lane[*b])); // stable
        all.truncate(k);
        all
    };
    let lanes: Vec<ArrayView1<'_, T>> = values.lanes(Axis(axis)).into_iter().collect();
    let picked: Vec<Vec<usize>> = lanes.par_iter().map(|lane| indices(lane.view())).collect();
    let mut shape = values.shape().to_vec();
    shape[axis] = k;
    match top {
        Top::Values => {
            let mut out = Shared::from_elem(IxDyn(&shape), T::default());
            for ((mut out, lane), picked) in out.lanes_mut(Axis(axis)).into_iter().zip(&lanes).zip(&picked) {
                out.iter_mut().zip(picked).for_each(|(out, at)| *out = lane[*at]);
            }
            wrap(out)
        }
        Top::Indices => {
            let mut out = Shared::from_elem(IxDyn(&shape), 0i128);
            for (mut out, picked) in out.lanes_mut(Axis(axis)).into_iter().zip(&picked) {
                out.iter_mut().zip(picked).for_each(|(out, at)| *out = *at as i128);
            }
            TensorValue::Int(out)
        }
    }
}

/// The largest finite value of a float type.
pub(super) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::Bf16 => half::bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        DType::Hf32 => f32::from_bits(0x7F7F_F000).into(),
        DType::F8E4M3 => 448.0,
        DType::F8E5M2 => 57344.0,
        DType::HiF8 => 32768.0,
        DType::F8E8M0 => 2f64.powi(127),
        DType::F4E2M1 => 6.0,
        DType::F4E1M2 => 1.75,
        _ => f64::MAX,
    }
}
