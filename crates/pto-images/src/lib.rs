//! The published images: their configuration, plans that freeze every revision, publication, promotion and rollback in an OCI
//! registry.
//!
//! This crate must not know kernels, how a developer starts a container, nor the command line.

pub mod config;
mod document;
mod error;
mod locks;
pub mod plan;
pub mod promote;
mod proxy;
pub mod registry;
mod strict;
pub mod validation;

pub use document::Form;
pub use error::Error;
pub use proxy::VARIABLE as PROXY_VARIABLE;
pub use pto_context::Fault;
