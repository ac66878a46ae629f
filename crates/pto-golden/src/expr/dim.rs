//! Evaluation of dims and of `block_dim`: integers in, an integer out, everything between exact.

use super::ExprError;
use super::ast::{BinaryOp, Call, Node, NodeKind};
use super::function::{Function, Map, Reduction};
use super::ratio::Ratio;

/// How names get their values.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<i64>;

pub(super) fn eval(source: &str, node: &Node, lookup: Lookup<'_>) -> Result<i64, ExprError> {
    let text = &source[node.span.clone()];
    let value = Evaluator { source, lookup }.eval(node)?;
    let Some(whole) = value.to_integer() else {
        let message = format!("`{text}` is {value}, not an integer");
        return Err(ExprError::new(message, node.span.clone()).with_help("use `//`, `ceil()` or `floor()`"));
    };
    i64::try_from(whole).map_err(|_| ExprError::new(format!("`{text}` is {whole}, too large"), node.span.clone()))
}

struct Evaluator<'a> {
    source: &'a str,
    lookup: Lookup<'a>,
}

impl Evaluator<'_> {
    fn text(&self, node: &Node) -> &str {
        &self.source[node.span.clone()]
    }

    /// `None` is how [`Ratio`] says that a value left `i128`.
    fn in_range(&self, node: &Node, value: Option<Ratio>) -> Result<Ratio, ExprError> {
        value.ok_or_else(|| ExprError::new(format!("`{}` overflows", self.text(node)), node.span.clone()))
    }

    fn eval(&self, node: &Node) -> Result<Ratio, ExprError> {
        let refuse = |what: &str, help: &str| Err(ExprError::new(what, node.span.clone()).with_help(help));
        match &node.kind {
            NodeKind::Int(value) => Ok(Ratio::integer(*value)),
            NodeKind::Name(name) => match (self.lookup)(name) {
                Some(value) => Ok(Ratio::integer(value.into())),
                None => Err(ExprError::new(format!("unknown name `{name}`"), node.span.clone())),
            },
            NodeKind::Negate(operand) => self.in_range(node, self.eval(operand)?.neg()),
            NodeKind::Binary(op, left, right) => self.binary(node, *op, left, right),
            NodeKind::Call(call) => self.call(node, call),
            NodeKind::Float(_) => refuse(
                &format!("`{}` is not an integer", self.text(node)),
                "dims are computed exactly; write a fraction such as `3 / 2`",
            ),
            NodeKind::Bool(_) => refuse("a dim is an integer, not true or false", "write 0 or 1"),
            NodeKind::TransposeAll(_) => refuse("a dim has no transpose", "only a tensor expression knows `.T`"),
            NodeKind::Tuple(_) => refuse("a dim is one integer, found several", "give each dim its own expression"),
        }
    }

    fn binary(&self, node: &Node, op: BinaryOp, left: &Node, right: &Node) -> Result<Ratio, ExprError> {
        let (a, b) = (self.eval(left)?, self.eval(right)?);
        let by_zero = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem) && b == Ratio::ZERO;
        let zero_inverse = op == BinaryOp::Pow && a == Ratio::ZERO && b.less(Ratio::ZERO) == Some(true);
        if by_zero || zero_inverse {
            let message = format!("division by zero in `{}`", self.text(node));
            let blamed = if by_zero { right } else { left };
            return Err(ExprError::new(message, node.span.clone()).with_help(format!("`{}` is 0", self.text(blamed))));
        }
        let value = match op {
            BinaryOp::Add => a.add(b),
            BinaryOp::Sub => a.sub(b),
            BinaryOp::Mul => a.mul(b),
            BinaryOp::Div => a.div(b),
            BinaryOp::FloorDiv => a.floor_div(b),
            BinaryOp::Rem => a.rem(b),
            BinaryOp::Pow => {
                let exponent = b.to_integer().ok_or_else(|| {
                    let message = format!("the exponent `{}` is {b}, not an integer", self.text(right));
                    ExprError::new(message, right.span.clone())
                })?;
                a.pow(exponent)
            }
            _ => {
                let what = if op == BinaryOp::MatMul { "`@`" } else { "a comparison" };
                return Err(ExprError::new(format!("{what} has no place in a dim"), node.span.clone())
                    .with_help("dims know `+ - * / // % **`, `abs`, `ceil`, `floor`, `min` and `max`"));
            }
        };
        self.in_range(node, value)
    }

    fn call(&self, node: &Node, call: &Call) -> Result<Ratio, ExprError> {
        let smaller = match call.function {
            Function::Map(map @ (Map::Abs | Map::Ceil | Map::Floor)) => {
                let value = self.eval(&call.operands[0])?;
                let value = match map {
                    Map::Abs => value.abs(),
                    Map::Ceil => value.ceil(),
                    _ => Some(value.floor()),
                };
                return self.in_range(node, value);
            }
            Function::Reduce(Reduction::Min) => true,
            Function::Reduce(Reduction::Max) => false,
            _ => return Err(self.not_in_a_dim(node)),
        };
        if let Some((_, option)) = call.options.first() {
            return Err(ExprError::new("a dim has no axes", option.span.clone()));
        }
        let mut chosen = self.eval(&call.operands[0])?;
        for operand in &call.operands[1..] {
            let candidate = self.eval(operand)?;
            let less = candidate.less(chosen);
            let less = less.ok_or_else(|| ExprError::new("the comparison overflows", operand.span.clone()))?;
            if less == smaller {
                chosen = candidate;
            }
        }
        Ok(chosen)
    }

    fn not_in_a_dim(&self, node: &Node) -> ExprError {
        let name = self.text(node).split('(').next().unwrap_or_default().trim();
        ExprError::new(format!("`{name}` has no place in a dim"), node.span.clone())
            .with_help("dims know `abs`, `ceil`, `floor`, `min` and `max`")
    }
}
