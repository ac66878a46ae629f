//! What a tensor expression works on.

use ndarray::{ArcArray, Dimension, IxDyn, Zip};

use crate::Tensor;

/// Elements shared until written to.
pub(super) type Shared<T> = ArcArray<T, IxDyn>;

/// A tensor inside an expression: exact integers while every operand is one, else doubles.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorValue {
    /// Floats, and whatever was computed from them.
    Real(ArcArray<f64, IxDyn>),
    /// Integers, and truth values as 0 and 1. Wide enough for every product of two 64-bit elements.
    Int(ArcArray<i128, IxDyn>),
}

impl TensorValue {
    /// A real scalar.
    pub fn real(value: f64) -> Self {
        Self::Real(ArcArray::from_elem(IxDyn(&[]), value))
    }

    /// An integer scalar.
    pub fn int(value: impl Into<i128>) -> Self {
        Self::Int(ArcArray::from_elem(IxDyn(&[]), value.into()))
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Real(values) => values.shape(),
            Self::Int(values) => values.shape(),
        }
    }

    /// As doubles; integers beyond 2^53 round to nearest.
    pub fn into_real(self) -> ArcArray<f64, IxDyn> {
        match self {
            Self::Real(values) => values,
            Self::Int(values) => map(&values, |value| *value as f64),
        }
    }
}

impl From<&Tensor> for TensorValue {
    fn from(tensor: &Tensor) -> Self {
        tensor.to_value()
    }
}

/// Below this many elements another thread costs more than it saves.
const PARALLEL: usize = 1 << 15;

/// Element by element.
pub(super) fn map<A: Clone + Sync + Send, B: Clone + Send>(
    values: &Shared<A>,
    f: impl Fn(&A) -> B + Sync + Send,
) -> Shared<B> {
    let zip = Zip::from(values);
    if values.len() < PARALLEL { zip.map_collect(f) } else { zip.par_map_collect(f) }.into_shared()
}

/// Element by element over two operands, or `None` if their shapes do not broadcast.
pub(super) fn zip<A: Clone + Sync + Send, B: Clone + Send>(
    left: &Shared<A>,
    right: &Shared<A>,
    f: impl Fn(&A, &A) -> B + Sync + Send,
) -> Option<Shared<B>> {
    let shape = broadcast(left.shape(), right.shape())?;
    let shape = IxDyn(&shape);
    let (left, right) = (left.broadcast(shape.clone())?, right.broadcast(shape.clone())?);
    let zip = Zip::from(left).and(right);
    Some(if shape.size() < PARALLEL { zip.map_collect(f) } else { zip.par_map_collect(f) }.into_shared())
}

/// `where`: one of two, chosen element by element.
pub(super) fn choose<A: Clone + Sync + Send>(
    condition: &Shared<bool>,
    left: &Shared<A>,
    right: &Shared<A>,
) -> Option<Shared<A>> {
    let shape = broadcast(condition.shape(), &broadcast(left.shape(), right.shape())?)?;
    let shape = IxDyn(&shape);
    let condition = condition.broadcast(shape.clone())?;
    let (left, right) = (left.broadcast(shape.clone())?, right.broadcast(shape)?);
    let pick = |condition: &bool, left: &A, right: &A| if *condition { left.clone() } else { right.clone() };
    Some(Zip::from(condition).and(left).and(right).map_collect(pick).into_shared())
}

/// NumPy's rule: shapes are aligned at their last axis, and an axis of 1 stretches.
pub(super) fn broadcast(left: &[usize], right: &[usize]) -> Option<Vec<usize>> {
    let axes = left.len().max(right.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(axes).map_or(1, |axis| shape[axis]);
    let both = (0..axes).map(|axis| match (size(left, axis), size(right, axis)) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    });
    both.collect()
}
