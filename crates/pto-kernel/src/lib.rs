//! Kernels as their authors describe them: `kernel.toml` and what follows from it. The manifest itself, the cases it is
//! tested with, the launcher it is called through, and the ways to get one: a template, or a source that exists already.
//!
//! This crate must not know the command line: it takes paths and values, and gives back values, texts and errors.

pub mod adopt;
pub mod cases;
pub mod discover;
mod error;
pub mod launcher;
pub mod manifest;
pub mod scaffold;
pub mod shim;
pub mod signature;
pub mod source;
mod write;

pub use error::KernelError;
pub use manifest::Manifest;
