//! Evaluation of tensor expressions.

use super::ExprError;
use super::arith::{self, Trouble};
use super::ast::{BinaryOp, Node, NodeKind};
use super::matmul::{self, matmul};
use super::value::{Shared, TensorValue, map, zip};

/// How names get their values.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<TensorValue>;

pub(super) struct Evaluator<'a> {
    pub(super) source: &'a str,
    pub(super) lookup: Lookup<'a>,
}

impl Evaluator<'_> {
    pub(super) fn text(&self, node: &Node) -> &str {
        &self.source[node.span.clone()]
    }

    pub(super) fn error(&self, node: &Node, message: impl Into<String>) -> ExprError {
        ExprError::new(message, node.span.clone())
    }

    pub(super) fn eval(&self, node: &Node) -> Result<TensorValue, ExprError> {
        match &node.kind {
            NodeKind::Int(value) => Ok(TensorValue::int(*value)),
            NodeKind::Float(value) => Ok(TensorValue::real(*value)),
            NodeKind::Bool(value) => Ok(TensorValue::int(*value)),
            NodeKind::Name(name) => {
                (self.lookup)(name).ok_or_else(|| self.error(node, format!("unknown name `{name}`")))
            }
            NodeKind::Negate(operand) => match self.eval(operand)? {
                TensorValue::Real(values) => Ok(TensorValue::Real(map(&values, |value| -value))),
                TensorValue::Int(values) => {
                    self.exact_map(node, &values, |value| value.checked_neg().ok_or(Trouble::Overflow))
                }
            },
            NodeKind::Binary(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                self.binary(node, *op, &left, &right)
            }
            NodeKind::TransposeAll(operand) => {
                let value = self.eval(operand)?;
                let order: Vec<usize> = (0..value.shape().len()).rev().collect();
                Ok(super::axes::transpose(value, &order))
            }
            NodeKind::Tuple(_) => Err(self
                .error(node, "found several values, expected one")
                .with_help("a list in parentheses is only for `axis`, `axes` and `shape`")),
            NodeKind::Call(call) => self.call(node, call),
        }
    }

    pub(super) fn binary(
        &self,
        node: &Node,
        op: BinaryOp,
        left: &TensorValue,
        right: &TensorValue,
    ) -> Result<TensorValue, ExprError> {
        if op == BinaryOp::MatMul {
            return self.matmul(node, left, right);
        }
        if let (TensorValue::Int(a), TensorValue::Int(b)) = (left, right) {
            let integral = op != BinaryOp::Div && !(op == BinaryOp::Pow && b.iter().any(|exponent| *exponent < 0));
            if op.is_comparison() {
                let compared = zip(a, b, |a, b| i128::from(arith::compare(op, a, b)));
                return Ok(TensorValue::Int(self.fitting(node, left, right, compared)?));
            } else if integral {
                return self.exact_zip(node, a, b, arith::exact(op));
            }
        }
        let (a, b) = (left.clone().into_real(), right.clone().into_real());
        if op.is_comparison() {
            let compared = zip(&a, &b, |a, b| i128::from(arith::compare(op, a, b)));
            return Ok(TensorValue::Int(self.fitting(node, left, right, compared)?));
        }
        self.real_zip(node, &a, &b, arith::real(op))
    }

    pub(super) fn real_zip(
        &self,
        node: &Node,
        a: &Shared<f64>,
        b: &Shared<f64>,
        f: fn(f64, f64) -> f64,
    ) -> Result<TensorValue, ExprError> {
        let values = zip(a, b, |a, b| f(*a, *b)).ok_or_else(|| self.no_broadcast(node, &[a.shape(), b.shape()]))?;
        Ok(TensorValue::Real(values))
    }

    pub(super) fn exact_zip(
        &self,
        node: &Node,
        a: &Shared<i128>,
        b: &Shared<i128>,
        f: impl Fn(i128, i128) -> Result<i128, Trouble> + Sync + Send,
    ) -> Result<TensorValue, ExprError> {
        let results = zip(a, b, |a, b| f(*a, *b)).ok_or_else(|| self.no_broadcast(node, &[a.shape(), b.shape()]))?;
        self.without_trouble(node, &results)
    }

    pub(super) fn exact_map(
        &self,
        node: &Node,
        values: &Shared<i128>,
        f: impl Fn(i128) -> Result<i128, Trouble> + Sync + Send,
    ) -> Result<TensorValue, ExprError> {
        self.without_trouble(node, &map(values, |value| f(*value)))
    }

    fn without_trouble(&self, node: &Node, results: &Shared<Result<i128, Trouble>>) -> Result<TensorValue, ExprError> {
        match results.iter().find_map(|result| result.err()) {
            Some(trouble) => Err(self.trouble(node, trouble)),
            None => Ok(TensorValue::Int(map(results, |result| result.unwrap_or(0)))), // no `Err` is left
        }
    }

    pub(super) fn trouble(&self, node: &Node, trouble: Trouble) -> ExprError {
        let text = self.text(node);
        match trouble {
            Trouble::Overflow => self
                .error(node, format!("`{text}` leaves the exact integers (128 bits)"))
                .with_help("cast an operand to compute in floating point: `f64(x)`"),
            Trouble::DivisionByZero => self.error(node, format!("integer division by zero in `{text}`")),
        }
    }

    fn fitting<T>(
        &self,
        node: &Node,
        left: &TensorValue,
        right: &TensorValue,
        values: Option<T>,
    ) -> Result<T, ExprError> {
        values.ok_or_else(|| self.no_broadcast(node, &[left.shape(), right.shape()]))
    }

    pub(super) fn no_broadcast(&self, node: &Node, shapes: &[&[usize]]) -> ExprError {
        let shapes = shapes.iter().map(|shape| format!("{shape:?}")).collect::<Vec<_>>().join(" and ");
        self.error(node, format!("shapes {shapes} do not broadcast in `{}`", self.text(node)))
            .with_help("sizes are matched from the last axis on, and each pair must be equal or hold a 1")
    }

    fn matmul(&self, node: &Node, left: &TensorValue, right: &TensorValue) -> Result<TensorValue, ExprError> {
        let shapes = format!("shapes {:?} and {:?}", left.shape(), right.shape());
        matmul(left, right).map_err(|refusal| match refusal {
            matmul::Refusal::Scalar => self.error(node, format!("`@` multiplies matrices, found {shapes}")),
            matmul::Refusal::Shapes => {
                let message = format!("{shapes} do not fit in `{}`", self.text(node));
                self.error(node, message).with_help("`@` needs `[.., m, k]` and `[.., k, n]`")
            }
            matmul::Refusal::Integer(trouble) => self.trouble(node, trouble),
        })
    }
}
