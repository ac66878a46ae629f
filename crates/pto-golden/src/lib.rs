//! Decides whether a kernel's numbers are right: element types, tensor files, input fills, golden expressions and the
//! comparison itself.
//!
//! This crate must not know of ACL, of targets, or of processes: it is given bytes, shapes and rules.

mod dtype;
mod expr;
mod suggest;

pub use dtype::{DType, DTypeKind, UnknownDType};
pub use expr::{Expr, ExprError};
