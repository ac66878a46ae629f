//! Tmp
pub mod source;
