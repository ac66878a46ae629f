//! Decides whether a kernel's numbers are right: element types, tensor files, input fills, golden expressions and the
//! comparison itself.
//!
//! This crate must not know of ACL, of targets, or of processes: it is given bytes, shapes and rules.

pub mod compare;
mod dtype;
mod element;
mod error;
mod expr;
mod fill;
pub mod npy;
mod poison;
pub mod raw;
mod round;
mod scalar;
mod shape;
mod suggest;
mod tensor;

pub use compare::{Options, Report, SetReport, Status, Tolerance, compare, compare_set};
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
