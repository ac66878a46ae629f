//! Kernel source to shared object.
//!
//! What is to be run is a value, a [`plan::Plan`], before anything runs: it can be printed, compared, serialized and
//! tested on a machine without the compiler.
//!
//! This crate must not know how an artifact is launched, nor what a manifest looks like.

pub mod bisheng;
pub mod cann;
pub mod plan;
