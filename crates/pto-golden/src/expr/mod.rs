//! One small expression language with NumPy's meaning and Python's precedence, for dims and for golden tensors.
//!
//! | written | meaning | in a dim |
//! |---|---|---|
//! | `+ - * / // % **`, `-x` | arithmetic; `//` and `%` round towards minus infinity | yes, `/` exactly |
//! | `< <= > >= == !=` | 1 where true, else 0 | |
//! | `@` | matrix product, stacks of matrices broadcast | |
//! | `x.T`, `transpose(x, axes)` | axes reversed, or in the order given | |
//! | `min`, `max` | in a dim: of any number of operands; of a tensor: `max(x, axis=-1, keepdims=true)` | yes |
//! | `sum`, `prod`, `mean` | over one axis, `(several, axes)`, or all | |
//! | `abs`, `ceil`, `floor` | | yes |
//! | `round`, `trunc`, `sign` | `round` takes ties to even | |
//! | `exp`, `log`, `sqrt`, `rsqrt`, `erf`, `tanh`, `sigmoid`, `silu`, `relu`, `gelu` | `gelu` is the exact one, with `erf` | |
//! | `maximum`, `minimum`, `pow`, `clip(x, low, high)`, `where(c, a, b)` | element by element | |
//! | `isnan`, `isfinite`, `logical_and`, `logical_or`, `logical_not` | 1 where true, else 0 | |
//! | `softmax(x, axis=-1)` | | |
//! | `layernorm(x, axis=-1, eps=1e-5)`, `rmsnorm(x, axis=-1, eps=1e-6)` | without weights: multiply and add them | |
//! | `gather(x, indices, axis=0)` | as `numpy.take` | |
//! | `topk(x, k=8, axis=-1)`, `topk_indices(x, k=8)` | the largest first; of equal ones the first is first | |
//! | `quantize(x, scale, zero)`, `dequantize(q, scale, zero)` | `round(x / scale) + zero`; cast it: `i8(quantize(x, s, 0))` | |
//! | `reshape(x, (2, -1))`, `expand_dims(x, axis)` | | |
//! | `f16(x)`, `bf16(x)`, `i32(x)`, ... | rounded to that dtype, for an intermediate that has it; `f16(x, saturate=true)` stays finite | |
//! | `1`, `1_000`, `0.5`, `1e-6`, `inf`, `nan`, `true`, `false` | | integers |
//!
//! ```
//! use pto_golden::Expr;
//!
//! let blocks = Expr::parse("min(vector_cores, ceil(n / tile))")?;
//! let value = blocks.eval_dim(&|name| match name {
//!     "vector_cores" => Some(48),
//!     "n" => Some(100_000),
//!     "tile" => Some(16_384),
//!     _ => None,
//! })?;
//! assert_eq!(value, 7);
//! # Ok::<(), pto_golden::ExprError>(())
//! ```

mod arith;
mod ast;
mod axes;
mod call;
mod dim;
mod error;
mod eval;
mod function;
mod matmul;
mod parse;
mod ratio;
mod reference;
mod shape_call;
mod token;
mod value;

use std::collections::BTreeSet;
use std::ops::Range;

pub use error::ExprError;
pub use value::TensorValue;

/// An expression that has been read: every function in it exists and is called with arguments it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    source: String,
    root: ast::Node,
}

impl Expr {
    /// Longest expression read, in bytes.
    pub const MAX_LEN: usize = 1 << 16;

    /// Reads an expression.
    ///
    /// # Errors
    /// The text is not an expression: what was found and expected, with the bytes to blame.
    pub fn parse(source: &str) -> Result<Self, ExprError> {
        if source.len() > Self::MAX_LEN {
            let message = format!("the expression has {} bytes, at most {} are read", source.len(), Self::MAX_LEN);
            return Err(ExprError::new(message, 0..source.len()));
        }
        if source.trim().is_empty() {
            return Err(ExprError::new("the expression is empty", 0..source.len()));
        }
        Ok(Self { source: source.to_owned(), root: parse::parse(source)? })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names it looks up. Functions, `inf`, `nan`, `true` and `false` are not among them.
    pub fn names(&self) -> BTreeSet<String> {
        self.spanned_names().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Refuses a name that is not known, suggesting the nearest one.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn check_names<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Result<(), ExprError> {
        let known: BTreeSet<&str> = known.into_iter().collect();
        match self.spanned_names().into_iter().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, span)) => Err(ExprError::unknown("name", name, span, known.iter().copied())),
        }
    }

    /// Its value as a dim: integers and exact fractions, the result an integer that may be negative.
    ///
    /// Operators `+ - * / // % **`, functions `abs`, `ceil`, `floor`, `min`, `max`. `/` is exact, so
    /// `ceil(n / tile)` is right; `//` and `%` round towards minus infinity, as in Python.
    ///
    /// # Errors
    /// An unknown name, a division by zero, an overflow, a result that is not an integer, or a tensor operation.
    pub fn eval_dim(&self, lookup: &dyn Fn(&str) -> Option<i64>) -> Result<i64, ExprError> {
        dim::eval(&self.source, &self.root, lookup)
    }

    /// Its value as a tensor, with NumPy's broadcasting. Doubles throughout, so the caller rounds once, with
    /// [`Tensor::from_value`](crate::Tensor::from_value); `f16(x)`, `bf16(x)` and the like round in between. While all
    /// operands are integers, `+ - * // % **`, `@`, comparisons, `sum`, `prod`, `min` and `max` are exact.
    ///
    /// Where it differs from NumPy: `f16 + f16` does not round before the end; integers do not wrap around; an integer
    /// division by zero is an error; comparisons give 0 and 1, whose sum is 2.
    ///
    /// # Errors
    /// An unknown name, shapes that do not fit, an axis that is not there, an integer beyond 128 bits.
    pub fn eval_tensor(&self, lookup: &dyn Fn(&str) -> Option<TensorValue>) -> Result<TensorValue, ExprError> {
        eval::Evaluator { source: &self.source, lookup }.eval(&self.root)
    }

    fn spanned_names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        self.root.collect_names(&mut BTreeSet::new(), &mut names);
        names
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)
    }
}

impl std::str::FromStr for Expr {
    type Err = ExprError;

    fn from_str(source: &str) -> Result<Self, ExprError> {
        Self::parse(source)
    }
}
