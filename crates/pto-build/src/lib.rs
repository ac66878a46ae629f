//! A PyPTO home and checkout: set up, built, updated, and how it stands.
//!
//! - [`setup`]: a home gets `uv`, a Python environment in which PyPTO can be built, and our own program under its names;
//! - [`plan_setup`]: what that would do;
//! - [`pull`] and [`plan_pull`]: its repositories go forwards on their own branches, or nothing happens;
//! - [`continuation`]: the checkout's own updater, which goes on from there;
//! - [`build()`]: the project's own extension with native CMake, with what is there where that is sound and from scratch
//!   where it is not, then the runtime's wheel;
//! - [`plan_build`]: what that would do, and why;
//! - [`patches`]: the managed patches of an image, and the record of what was built with them.
//!
//! This crate must not know containers, nor the command line.

mod build;
mod error;
mod home;
pub mod patches;
mod process;
mod setup;
mod update;
mod uv;
mod venv;

pub use build::{
    ArtifactChange, Became, BuildOptions, BuildPlan, Built, Change, Decision, Input, Inputs, Jobs, PtoIsa,
    PtoIsaSources, Reason, Step, build, plan_build,
};
pub use error::{Attempt, BuildError, Error, HomeError, SourceError, UpdateError};
pub use home::{Home, with_proxy};
pub use pto_context::Fault;
pub use setup::{
    ACTIVATE, Helpers, HelpersStep, PROGRAM, PackagesStep, Plan, Receipt, Requirements, Setup, SetupOptions, VenvStep,
    WELCOME, plan_setup, setup,
};
pub use update::{
    Arriving, Blocked, How, Move, Passed, Pull, PullOptions, Repository, State, branch_standing, continuation,
    plan_pull, pull, source_of,
};
pub use uv::{UvChoice, UvStep};
pub use venv::{PythonFacts, PythonVersion, Standing, Unfit, examine};
