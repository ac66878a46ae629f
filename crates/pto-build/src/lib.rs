//! A PyPTO home and checkout: set up, built, updated, and how it stands.
//!
//! - [`build()`]: the project's own extension with native CMake, with what is there where that is sound and from scratch
//!   where it is not, then the runtime's wheel;
//! - [`plan_build`]: what that would do, and why;
//! - [`patches`]: the managed patches of an image, and the record of what was built with them.
//!
//! This crate must not know containers, nor the command line.

mod build;
mod error;
pub mod patches;

pub use build::{
    ArtifactChange, Became, BuildOptions, BuildPlan, Built, Change, Decision, Input, Inputs, Jobs, PtoIsa,
    PtoIsaSources, Reason, Step, build, plan_build,
};
pub use error::{Error, Fault};
