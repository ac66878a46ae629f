//! `@`: NumPy's matmul, accumulated in `f64`, or exactly for integers.

use ndarray::linalg::general_mat_mul;
use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayD, ArrayView2, ArrayViewMut2, Axis, Ix2, IxDyn};

use super::arith::Trouble;
use super::value::{Shared, TensorValue, broadcast};
use crate::{DType, Shape};

/// Why a product does not exist.
#[derive(Debug)]
pub(super) enum Refusal {
    /// `@` wants at least one axis on each side.
    Scalar,
    /// The inner sizes or the batch axes do not fit.
    Shapes,
    Integer(Trouble),
}

/// The product of two matrices, of stacks of matrices, of vectors.
pub(super) fn matmul(left: &TensorValue, right: &TensorValue) -> Result<TensorValue, Refusal> {
    let plan = Plan::new(left.shape(), right.shape())?;
    if let (TensorValue::Int(a), TensorValue::Int(b)) = (left, right) {
        if !plan.fits_doubles(a, b) {
            return Ok(TensorValue::Int(plan.run(a, b, exact_product)?));
        }
        let product = plan.run(&left.clone().into_real(), &right.clone().into_real(), real_product)?;
        return Ok(TensorValue::Int(super::value::map(&product, |value| *value as i128)));
    }
    Ok(TensorValue::Real(plan.run(&left.clone().into_real(), &right.clone().into_real(), real_product)?))
}

/// Both sides as stacks of matrices, and the shape of what comes out.
struct Plan {
    batch: Vec<usize>,
    left: [usize; 2],
    right: [usize; 2],
    result: Vec<usize>,
}

impl Plan {
    /// A vector on the left is a row, on the right a column, and that axis is dropped from the result.
    fn new(left: &[usize], right: &[usize]) -> Result<Self, Refusal> {
        let (Some((&l_last, l_rest)), Some((&r_last, r_rest))) = (left.split_last(), right.split_last()) else {
            return Err(Refusal::Scalar);
        };
        let (rows, l_batch) = l_rest.split_last().map_or((1, l_rest), |(rows, batch)| (*rows, batch));
        let (inner, columns, r_batch) = match r_rest.split_last() {
            Some((inner, batch)) => (*inner, r_last, batch),
            None => (r_last, 1, r_rest),
        };
        if l_last != inner {
            return Err(Refusal::Shapes);
        }
        let batch = broadcast(l_batch, r_batch).ok_or(Refusal::Shapes)?;
        let mut result = batch.clone();
        result.extend((!l_rest.is_empty()).then_some(rows));
        result.extend((!r_rest.is_empty()).then_some(columns));
        if Shape::from(result.as_slice()).elements(DType::F64).is_err() {
            return Err(Refusal::Shapes); // an inner size of 0 can make much out of nothing
        }
        Ok(Self { batch, left: [rows, inner], right: [inner, columns], result })
    }

    /// Whether every partial sum is an integer that a double holds exactly.
    fn fits_doubles(&self, a: &Shared<i128>, b: &Shared<i128>) -> bool {
        let largest = |values: &Shared<i128>| values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
        let bound = largest(a).checked_mul(largest(b)).and_then(|product| product.checked_mul(self.left[1] as u128));
        bound.is_some_and(|bound| bound <= 1 << 53)
    }

    fn run<T: Clone + Default>(
        &self,
        left: &Shared<T>,
        right: &Shared<T>,
        product: impl Fn(ArrayView2<'_, T>, ArrayView2<'_, T>, ArrayViewMut2<'_, T>) -> Result<(), Trouble>,
    ) -> Result<Shared<T>, Refusal> {
        let stack = |values: &Shared<T>, matrix: [usize; 2]| -> Option<ArrayD<T>> {
            let own_batch = values.ndim().saturating_sub(2);
            let shape = [&values.shape()[..own_batch], &matrix].concat();
            let shaped = values.to_shape(IxDyn(&shape)).ok()?;
            let full = [self.batch.as_slice(), &matrix].concat();
            Some(shaped.broadcast(IxDyn(&full))?.as_standard_layout().into_owned())
        };
        let (Some(left), Some(right)) = (stack(left, self.left), stack(right, self.right)) else {
            return Err(Refusal::Shapes);
        };
        let matrices: usize = self.batch.iter().product();
        let mut out = ArrayD::from_elem(IxDyn(&[matrices, self.left[0], self.right[1]]), T::default());
        let flat = |values: ArrayD<T>, [rows, columns]: [usize; 2]| {
            values.into_shape_with_order(IxDyn(&[matrices, rows, columns])).map_err(|_| Refusal::Shapes)
        };
        let (left, right) = (flat(left, self.left)?, flat(right, self.right)?);
        for ((left, right), out) in left.outer_iter().zip(right.outer_iter()).zip(out.outer_iter_mut()) {
            let matrices = (left.into_dimensionality::<Ix2>(), right.into_dimensionality(), out.into_dimensionality());
            let (Ok(left), Ok(right), Ok(out)) = matrices else { return Err(Refusal::Shapes) };
            product(left, right, out).map_err(Refusal::Integer)?;
        }
        let shaped = out.into_shape_with_order(IxDyn(&self.result)).map_err(|_| Refusal::Shapes)?;
        Ok(shaped.into_shared())
    }
}

/// Blocks of rows in parallel. The blocks do not depend on the number of threads, so neither does the result.
fn real_product(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<(), Trouble> {
    const ROWS: usize = 32;
    let blocks = out.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter();
    blocks.zip(left.axis_chunks_iter(Axis(0), ROWS).into_par_iter()).for_each(|(mut out, left)| {
        general_mat_mul(1.0, &left, &right, 0.0, &mut out);
    });
    Ok(())
}

fn exact_product(
    left: ArrayView2<'_, i128>,
    right: ArrayView2<'_, i128>,
    mut out: ArrayViewMut2<'_, i128>,
) -> Result<(), Trouble> {
    let right: Array2<i128> = right.t().as_standard_layout().into_owned();
    for ((row, column), out) in out.indexed_iter_mut() {
        let mut pairs = left.row(row).into_iter().zip(right.row(column));
        let sum = pairs.try_fold(0i128, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?));
        *out = sum.ok_or(Trouble::Overflow)?;
    }
    Ok(())
}
