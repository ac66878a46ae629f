//! Decides whether a kernel's numbers are right: element types, tensor files, input fills, golden expressions, the
//! comparison itself, how an output is wrong, and a page about it.
//!
//! This crate must not know of ACL, of targets, or of processes: it is given bytes, shapes and rules.
//!
//! ```
//! use pto_golden::{DType, Expr, Fill, Options, Tensor, TensorValue, Tolerance, compare};
//!
//! // An input from a recorded seed, and what the kernel should make of it: computed in f64, rounded once.
//! let x = Fill::default_for(DType::F16).generate(DType::F16, [2, 64], 42, "x")?;
//! let expr = Expr::parse("x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-6)")?;
//! let value = expr.eval_tensor(&|name| (name == "x").then(|| TensorValue::from(&x)))?;
//! let golden = Tensor::from_value(DType::F16, &value);
//!
//! // A kernel that copied its input.
//! let report = compare(&x, &golden, Tolerance::default_for(DType::F16), &Options::default());
//! assert!(!report.passed());
//! println!("{report}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod compare;
mod dtype;
pub mod element;
mod error;
mod expr;
pub mod files;
mod fill;
pub mod html;
pub mod npy;
pub mod pattern;
mod poison;
pub mod raw;
mod round;
mod scalar;
mod shape;
mod storage;
mod suggest;
pub mod suite;
mod tensor;

pub use compare::{
    Criterion, Options, Region, Report, Rule, SetReport, Status, Tolerance, compare, compare_set, judge,
};
pub use dtype::{DType, DTypeKind, UnknownDType};
pub use element::Element;
pub use error::Error;
pub use expr::{Expr, ExprError, TensorValue};
pub use fill::{Fill, Number};
pub use half::{bf16, f16};
pub use poison::poison;
pub use scalar::Scalar;
pub use shape::Shape;
pub use tensor::Tensor;
