//! What is wrong on a machine, and what to do about it.
//!
//! - [`triage`]: what an error code or a log means, the first cause before its fallout.
//!
//! This crate must not know the command line: it returns values, and whoever called renders them.

pub mod triage;
