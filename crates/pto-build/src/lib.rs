//! A PyPTO home and checkout: set up, built, updated, and how it stands.
//!
//! This crate must not know containers, nor the command line.

mod error;

pub use error::{Error, Fault};
