//! Shapes, and where in a shape an element stands.

use std::fmt;

use serde::Serialize;

use crate::{DType, Error};

/// Sizes of the axes, outermost first. No axes is a scalar with one element; an axis of 0 leaves none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<usize>);

impl Shape {
    /// Elements of a tensor with this shape, if that and its size in bytes can be counted.
    pub(crate) fn elements(&self, dtype: DType) -> Result<usize, Error> {
        let mut product = Some(1usize);
        if !self.0.contains(&0) {
            product = self.0.iter().try_fold(1usize, |product, axis| product.checked_mul(*axis));
        } else {
            product = product.map(|_| 0);
        }
        product
            .filter(|elements| elements.checked_mul(dtype.size()).is_some_and(|bytes| isize::try_from(bytes).is_ok()))
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
