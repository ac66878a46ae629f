//! Evaluation of function calls in tensor expressions.

use super::ExprError;
use super::arith;
use super::ast::{BinaryOp, Call, Node};
use super::axes;
use super::eval::Evaluator;
use super::function::{Function, Map, Norm, Reduction, Top, Zip};
use super::reference;
use super::value::{Shared, TensorValue, choose, map, zip};
use crate::DType;
use crate::tensor::{clamp_to, float_from_int, round_to};

impl Evaluator<'_> {
    pub(super) fn call(&self, node: &Node, call: &Call) -> Result<TensorValue, ExprError> {
        if call.operands.len() > 1
            && let Function::Reduce(reduction) = call.function
        {
            return Err(self.ambiguous(node, reduction));
        }
        let operands = call.operands.iter().map(|operand| self.eval(operand)).collect::<Result<Vec<_>, _>>()?;
        let mut operands = operands.into_iter();
        // Their number was checked when the expression was read.
        let mut next = || operands.next().unwrap_or_else(|| TensorValue::real(f64::NAN));
        match call.function {
            Function::Map(map) => self.map(node, map, next()),
            Function::Zip(zip) => self.zip(node, zip, &next(), &next()),
            Function::Cast(dtype) => self.cast(call, dtype, next()),
            Function::Where => self.choose(node, next(), next(), next()),
            Function::Clip => {
                let raised = self.zip(node, Zip::Maximum, &next(), &next())?;
                self.zip(node, Zip::Minimum, &raised, &next())
            }
            Function::Reduce(reduction) => self.reduce(node, call, reduction, next()),
            Function::Softmax => self.softmax(call, next()),
            Function::Normalize(norm) => self.normalize(call, norm, next()),
            Function::Gather => self.gather(node, call, &next(), &next()),
            Function::TopK(top) => self.top_k(node, call, top, next()),
            Function::Quantize => self.quantize(node, &next(), &next(), &next()),
            Function::Dequantize => self.dequantize(node, &next(), &next(), &next()),
            Function::Transpose => self.transpose(call, next()),
            Function::Reshape => self.reshape(node, call, &next()),
            Function::ExpandDims => self.expand_dims(node, call, &next()),
        }
    }

    fn ambiguous(&self, node: &Node, reduction: Reduction) -> ExprError {
        let (reduce, choose) = match reduction {
            Reduction::Max => ("max", "maximum"),
            _ => ("min", "minimum"),
        };
        self.error(node, format!("`{reduce}` of tensors takes one operand"))
            .with_help(format!("write `{choose}(a, b)` element by element, or `{reduce}(x, axis=0)` over an axis"))
    }

    fn map(&self, node: &Node, which: Map, value: TensorValue) -> Result<TensorValue, ExprError> {
        if let (TensorValue::Int(values), Some(f)) = (&value, arith::map_int(which)) {
            return self.exact_map(node, values, f);
        }
        let values = value.into_real();
        let truth = |f: fn(f64) -> bool| TensorValue::Int(map(&values, |value| f(*value).into()));
        Ok(match which {
            Map::IsFinite => truth(f64::is_finite),
            Map::IsNan => truth(f64::is_nan),
            Map::LogicalNot => truth(|value| value == 0.0),
            _ => match arith::map_real(which) {
                Some(f) => TensorValue::Real(map(&values, |value| f(*value))),
                None => TensorValue::Real(values),
            },
        })
    }

    fn zip(&self, node: &Node, which: Zip, left: &TensorValue, right: &TensorValue) -> Result<TensorValue, ExprError> {
        if which == Zip::Pow {
            return self.binary(node, BinaryOp::Pow, left, right);
        }
        let Some(f) = arith::zip_real(which) else {
            let (a, b) = (truth(left), truth(right));
            let both = |a: &bool, b: &bool| i128::from(if which == Zip::LogicalAnd { *a && *b } else { *a || *b });
            let values = zip(&a, &b, both).ok_or_else(|| self.no_broadcast(node, &[a.shape(), b.shape()]))?;
            return Ok(TensorValue::Int(values));
        };
        if let (TensorValue::Int(a), TensorValue::Int(b)) = (left, right) {
            return self.exact_zip(node, a, b, |a, b| Ok(if which == Zip::Maximum { a.max(b) } else { a.min(b) }));
        }
        self.real_zip(node, &left.clone().into_real(), &right.clone().into_real(), f)
    }

    fn choose(
        &self,
        node: &Node,
        condition: TensorValue,
        left: TensorValue,
        right: TensorValue,
    ) -> Result<TensorValue, ExprError> {
        let condition = truth(&condition);
        let chosen = match (&left, &right) {
            (TensorValue::Int(a), TensorValue::Int(b)) => choose(&condition, a, b).map(TensorValue::Int),
            _ => {
                let (a, b) = (left.clone().into_real(), right.clone().into_real());
                choose(&condition, &a, &b).map(TensorValue::Real)
            }
        };
        chosen.ok_or_else(|| self.no_broadcast(node, &[condition.shape(), left.shape(), right.shape()]))
    }

    fn reduce(
        &self,
        node: &Node,
        call: &Call,
        reduction: Reduction,
        value: TensorValue,
    ) -> Result<TensorValue, ExprError> {
        let axes = match call.option("axis") {
            Some(written) => self.axes(written, value.shape().len())?,
            None => (0..value.shape().len()).collect(),
        };
        let keepdims = match call.option("keepdims") {
            Some(written) => self.integer(written)? != 0,
            None => false,
        };
        let shape = value.shape().to_vec();
        axes::reduce(reduction, value, &axes, keepdims).map_err(|refusal| match refusal {
            axes::Refusal::Empty => {
                self.error(node, format!("`{}` has nothing to choose from: shape {shape:?}", self.text(node)))
            }
            axes::Refusal::Integer(trouble) => self.trouble(node, trouble),
        })
    }

    fn softmax(&self, call: &Call, value: TensorValue) -> Result<TensorValue, ExprError> {
        let axis = self.last_axis(call, value.shape().len())?;
        Ok(TensorValue::Real(axes::softmax(value.into_real(), axis)))
    }

    /// An axis that is the last one if none is named.
    fn last_axis(&self, call: &Call, axes: usize) -> Result<usize, ExprError> {
        match call.option("axis") {
            Some(written) => self.axis(written, axes),
            None => self.axis_in_range(&call.operands[0], -1, axes),
        }
    }

    fn normalize(&self, call: &Call, norm: Norm, value: TensorValue) -> Result<TensorValue, ExprError> {
        let axis = self.last_axis(call, value.shape().len())?;
        let usual = if norm == Norm::Layer { 1e-5 } else { 1e-6 };
        let eps = call.option("eps").map_or(Ok(usual), |written| self.number(written))?;
        Ok(TensorValue::Real(reference::normalize(norm, value.into_real(), axis, eps)))
    }

    fn gather(
        &self,
        node: &Node,
        call: &Call,
        value: &TensorValue,
        indices: &TensorValue,
    ) -> Result<TensorValue, ExprError> {
        let axes = value.shape().len();
        let axis = call
            .option("axis")
            .map_or_else(|| self.axis_in_range(&call.operands[0], 0, axes), |written| self.axis(written, axes))?;
        let TensorValue::Int(indices) = indices else {
            return Err(
                self.error(&call.operands[1], format!("`{}` is no tensor of integers", self.text(&call.operands[1])))
            );
        };
        reference::gather(value, indices, axis).map_err(|index| {
            let size = value.shape()[axis];
            self.error(node, format!("index {index} of an axis of {size} in `{}`", self.text(node)))
        })
    }

    fn top_k(&self, node: &Node, call: &Call, top: Top, value: TensorValue) -> Result<TensorValue, ExprError> {
        let axis = self.last_axis(call, value.shape().len())?;
        let Some(written) = call.option("k") else {
            return Err(self.error(node, "how many? write `topk(x, k=8)`"));
        };
        let size = value.shape()[axis];
        let k = self.integer(written)?;
        let Some(k) = usize::try_from(k).ok().filter(|k| *k <= size) else {
            return Err(self.error(written, format!("the {k} largest of {size}")));
        };
        Ok(reference::top_k(top, value, k, axis))
    }

    fn quantize(
        &self,
        node: &Node,
        value: &TensorValue,
        scale: &TensorValue,
        zero: &TensorValue,
    ) -> Result<TensorValue, ExprError> {
        let steps = self.binary(node, BinaryOp::Div, value, scale)?.into_real();
        // `as` saturates, far beyond what any integer type holds; NaN becomes 0.
        let whole = TensorValue::Int(map(&steps, |steps| steps.round_ties_even().clamp(-1e30, 1e30) as i128));
        self.binary(node, BinaryOp::Add, &whole, zero)
    }

    fn dequantize(
        &self,
        node: &Node,
        value: &TensorValue,
        scale: &TensorValue,
        zero: &TensorValue,
    ) -> Result<TensorValue, ExprError> {
        let steps = self.binary(node, BinaryOp::Sub, value, zero)?;
        self.binary(node, BinaryOp::Mul, &steps, scale)
    }

    fn cast(&self, call: &Call, dtype: DType, value: TensorValue) -> Result<TensorValue, ExprError> {
        let saturate = call.option("saturate").map_or(Ok(0), |written| self.integer(written))? != 0;
        let cast = cast(dtype, value);
        Ok(match cast {
            TensorValue::Real(values) if saturate => {
                let largest = reference::largest(dtype);
                TensorValue::Real(map(&values, |value| value.clamp(-largest, largest)))
            }
            cast => cast,
        })
    }

    fn number(&self, written: &Node) -> Result<f64, ExprError> {
        match self.eval(written)?.into_real() {
            values if values.ndim() == 0 => Ok(values.first().copied().unwrap_or(0.0)),
            _ => Err(self.error(written, format!("`{}` is not a number", self.text(written)))),
        }
    }
}

/// NumPy's truth of numbers: not zero.
fn truth(value: &TensorValue) -> Shared<bool> {
    match value {
        TensorValue::Real(values) => map(values, |value| *value != 0.0),
        TensorValue::Int(values) => map(values, |value| *value != 0),
    }
}

/// Rounds once; how is said at [`crate::Element::from_f64`].
fn cast(dtype: DType, value: TensorValue) -> TensorValue {
    match value {
        TensorValue::Real(values) if dtype.is_float() => {
            TensorValue::Real(map(&values, |value| round_to(dtype, *value)))
        }
        TensorValue::Int(values) if dtype.is_float() => {
            TensorValue::Real(map(&values, |value| float_from_int(dtype, *value)))
        }
        TensorValue::Real(values) if dtype == DType::Bool => {
            TensorValue::Int(map(&values, |value| (*value != 0.0).into()))
        }
        // `as` truncates and saturates; no integer dtype reaches the ends of i128.
        TensorValue::Real(values) => TensorValue::Int(map(&values, |value| clamp_to(dtype, *value as i128))),
        TensorValue::Int(values) => TensorValue::Int(map(&values, |value| clamp_to(dtype, *value))),
    }
}
