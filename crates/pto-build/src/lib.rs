//! A PyPTO home and checkout: set up, built, updated, and how it stands.
//!
//! - [`setup`]: a home gets `uv`, a Python environment in which PyPTO can be built, and our own program under its names;
//! - [`plan_setup`]: what that would do;
//! - [`pull`] and [`plan_pull`]: its repositories go forwards on their own branches, or nothing happens;
//! - [`continuation`]: the checkout's own updater, which goes on from there.
//!
//! This crate must not know containers, nor the command line.

mod error;
mod home;
mod reach;
mod setup;
mod update;
mod uv;
mod venv;

pub use error::{Error, Fault};
pub use home::Home;
pub use setup::{
    ACTIVATE, Attempt, Helpers, HelpersStep, PROGRAM, PackagesStep, Plan, Receipt, Requirements, Setup, SetupError,
    SetupOptions, VenvStep, plan_setup, setup, stale_helpers,
};
pub use update::{
    Blocked, How, Move, Passed, Pull, PullOptions, Repository, State, UpdateError, continuation, plan_pull, pull,
    source_of,
};
pub use uv::{UvChoice, UvStep};
pub use venv::{PythonFacts, PythonVersion, Standing, Unfit, examine};
