//! Calls that move elements to other places, and how axes and sizes are written in them.

use super::ExprError;
use super::ast::{Call, Node, NodeKind};
use super::axes;
use super::eval::Evaluator;
use super::value::TensorValue;

impl Evaluator<'_> {
    pub(super) fn transpose(&self, call: &Call, value: TensorValue) -> Result<TensorValue, ExprError> {
        let axes = value.shape().len();
        let order = match call.option("axes") {
            Some(written) => {
                let order = self.axes(written, axes)?;
                if order.len() != axes {
                    let message = format!("`{}` does not name all {axes} axes", self.text(written));
                    return Err(self.error(written, message));
                }
                order
            }
            None => (0..axes).rev().collect(),
        };
        Ok(axes::transpose(value, &order))
    }

    pub(super) fn reshape(&self, node: &Node, call: &Call, value: &TensorValue) -> Result<TensorValue, ExprError> {
        let Some(written) = call.option("shape") else {
            return Err(self.error(node, "`reshape` needs a shape, as in `reshape(x, (2, -1))`"));
        };
        let sizes = self.integers(written)?;
        let elements: usize = value.shape().iter().product();
        let known =
            sizes.iter().filter(|size| **size != -1).try_fold(1i128, |product, size| product.checked_mul(*size));
        let known = known.and_then(|known| usize::try_from(known).ok());
        let free = known.filter(|known| *known > 0 && elements.is_multiple_of(*known)).map(|known| elements / known);
        let one_free = sizes.iter().filter(|size| **size == -1).count() <= 1;
        let shape: Option<Vec<usize>> =
            sizes.iter().map(|size| if *size == -1 { free } else { usize::try_from(*size).ok() }).collect();
        let reshaped = shape.filter(|_| one_free).and_then(|shape| axes::reshape(value, &shape));
        reshaped.ok_or_else(|| {
            let message = format!("shape {:?} cannot become `{}`", value.shape(), self.text(written));
            self.error(written, message).with_help("the number of elements stays the same; one size may be -1")
        })
    }

    pub(super) fn expand_dims(&self, node: &Node, call: &Call, value: &TensorValue) -> Result<TensorValue, ExprError> {
        let Some(written) = call.option("axis") else {
            return Err(self.error(node, "`expand_dims` needs an axis, as in `expand_dims(x, -1)`"));
        };
        let mut shape = value.shape().to_vec();
        let axis = self.axis(written, shape.len() + 1)?;
        shape.insert(axis, 1);
        axes::reshape(value, &shape).ok_or_else(|| self.error(node, "the elements do not fit"))
    }

    /// One or several axes, distinct and in range.
    pub(super) fn axes(&self, written: &Node, of: usize) -> Result<Vec<usize>, ExprError> {
        let mut axes = Vec::new();
        for axis in self.integers(written)? {
            let axis = self.axis_in_range(written, axis, of)?;
            if axes.contains(&axis) {
                return Err(self.error(written, format!("axis {axis} is named twice")));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    pub(super) fn axis(&self, written: &Node, of: usize) -> Result<usize, ExprError> {
        self.axis_in_range(written, self.integer(written)?, of)
    }

    pub(super) fn axis_in_range(&self, blamed: &Node, axis: i128, of: usize) -> Result<usize, ExprError> {
        axes::axis(axis, of).ok_or_else(|| {
            let plural = if of == 1 { "axis" } else { "axes" };
            self.error(blamed, format!("axis {axis} of a tensor with {of} {plural}"))
        })
    }

    pub(super) fn integers(&self, written: &Node) -> Result<Vec<i128>, ExprError> {
        match &written.kind {
            NodeKind::Tuple(items) => items.iter().map(|item| self.integer(item)).collect(),
            _ => Ok(vec![self.integer(written)?]),
        }
    }

    pub(super) fn integer(&self, written: &Node) -> Result<i128, ExprError> {
        match self.eval(written)? {
            TensorValue::Int(values) if values.ndim() == 0 => Ok(values.first().copied().unwrap_or(0)),
            _ => Err(self.error(written, format!("`{}` is not an integer", self.text(written)))),
        }
    }
}
