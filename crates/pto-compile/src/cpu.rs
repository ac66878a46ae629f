//! The CPU back end: an unmodified kernel source becomes a library that plays the NPU's cores on this machine.
//!
//! PTO-ISA brings a CPU simulator of its instructions. What it lacks — launches, cores that run together, cross-core flags,
//! on-chip memory of the real size — comes from the C++ in this crate's `cpu/` directory: a prelude that is included before
//! the kernel, and a runtime that the kernel is linked with.
//!
//! The way of a source: [`rewrite`] turns its launches into calls of the runtime; [`Toolchain`] is a compiler that was seen
//! to work with the given PTO-ISA headers, and what those headers were seen to lack; [`build`] compiles each side (vector,
//! cube) with a precompiled prelude and links it. Everything built is in a [`pto_store::Store`], keyed by what went in.

mod build;
mod compiler;
mod diagnostics;
mod error;
mod features;
mod flags;
mod job;
mod overlay;
mod precompiled;
mod request;
mod resources;
pub mod rewrite;
mod runtime;
mod side;
mod source;
mod survey;
mod toolchain;

pub use build::{Artifact, build};
pub use compiler::{Compiler, Family};
pub use error::{CpuError, Rejected};
pub use features::Features;
pub use request::KernelRequest;
pub(crate) use resources::KIND as PRELUDE_KIND;
pub use survey::{Survey, survey};
pub use toolchain::{Toolchain, ToolchainRequest};
