//! Shapes, and where in a shape an element stands.

use std::fmt;

use serde::Serialize;

use crate::{DType, Error};

/// Sizes of the axes, outermost first. No axes is a scalar with one element; an axis of 0 leaves none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<usize>);

impl Shape {
    /// Elements of a tensor with this shape, if they and their bytes can be counted. As in NumPy, axes of 0 do not
    /// excuse the others: their product must be countable too.
    pub(crate) fn elements(&self, dtype: DType) -> Result<usize, Error> {
        let mut not_zero = self.0.iter().filter(|axis| **axis > 0);
        let product = not_zero.try_fold(1usize, |product, axis| product.checked_mul(*axis));
        product
            .filter(|elements| elements.checked_mul(dtype.size()).is_some_and(|bytes| isize::try_from(bytes).is_ok()))
            .map(|elements| if self.0.contains(&0) { 0 } else { elements })
            .ok_or_else(|| Error::TooLarge { shape: self.clone(), dtype })
    }

    /// The logical coordinates of the element at `flat` in row-major order.
    pub(crate) fn coordinates(&self, mut flat: usize) -> Vec<usize> {
        let mut index = vec![0; self.0.len()];
        for (axis, size) in self.0.iter().enumerate().rev() {
            index[axis] = flat % (*size).max(1);
            flat /= (*size).max(1);
        }
        index
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<T: Into<Vec<usize>>> From<T> for Shape {
    fn from(axes: T) -> Self {
        Self(axes.into())
    }
}
