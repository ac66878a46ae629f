//! A home is set up: `uv`, a Python environment in which PyPTO can be built, the helpers.
//!
//! First the whole plan is made, without writing; then it is carried out, each step beside its place and put there in one
//! step. Killed at any moment, what was usable before still is, and the next run finishes.

mod helpers;
mod job;
pub(crate) mod receipt;
mod requirements;
pub(crate) mod step;

use std::path::PathBuf;

use pto_context::Context;
use serde::Serialize;

pub(crate) use helpers::LINK;
pub use helpers::{ACTIVATE, Helpers, HelpersStep, PROGRAM, WELCOME};
pub use receipt::Receipt;
pub use requirements::Requirements;

use crate::error::Error;
use crate::home;
use crate::uv::UvStep;
use crate::venv::PythonVersion;
use job::Job;

/// What to set up, and how.
#[derive(Debug, Clone, Default)]
pub struct SetupOptions {
    /// The home; without it `PYPTO_HOME`, else `/opt/pypto`.
    pub home: Option<PathBuf>,
    /// The checkout; without it `PYPTO_SRC`, where the images keep it, or the working directory.
    pub src: Option<PathBuf>,
    /// The release of `uv`, or `latest`; without it `UV_VERSION`.
    pub uv_version: Option<String>,
    /// The proxy for HTTP and HTTPS; without it, what the environment says.
    pub proxy: Option<String>,
    /// Our own program and its names.
    pub helpers: Helpers,
    /// Refresh the helpers and nothing else.
    pub helpers_only: bool,
    /// Install the packages again although they are there.
    pub reinstall: bool,
}

/// What is done about the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum VenvStep {
    /// It is complete.
    Keep {
        /// `3.10.13`.
        python: String,
    },
    /// A new one is made, and takes the place of one that will not do.
    Build {
        /// The interpreter; without it, `uv` installs one.
        with: Option<PathBuf>,
        /// What is wrong with the one that is there, if there is one.
        why: Option<String>,
    },
}

/// What is done about the packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum PackagesStep {
    /// They are those that the checkout asks for.
    Keep,
    /// They are installed.
    Install {
        /// Why, for people.
        why: String,
        /// What is asked for.
        packages: Vec<String>,
        /// The checkout's constraints.
        constraints: Option<PathBuf>,
    },
}

/// The steps of a setup, in their order. With `helpers_only` the last alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// `uv`.
    pub uv: Option<UvStep>,
    /// The environment.
    pub venv: Option<VenvStep>,
    /// The packages in it.
    pub packages: Option<PackagesStep>,
    /// The helpers.
    pub helpers: HelpersStep,
}

/// A setup that was planned or done.
#[derive(Debug, Clone, Serialize)]
pub struct Setup {
    /// PyPTO's home.
    pub home: PathBuf,
    /// The checkout, if there is one.
    pub src: Option<PathBuf>,
    /// The version of Python that the checkout asks for.
    pub python: Option<PythonVersion>,
    /// What was to be done.
    pub plan: Plan,
    /// The command that sets a shell up for these paths.
    pub activation: String,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        matches!(self.uv, None | Some(UvStep::Keep { .. }))
            && matches!(self.venv, None | Some(VenvStep::Keep { .. }))
            && matches!(self.packages, None | Some(PackagesStep::Keep))
            && self.helpers.refresh.is_empty()
    }
}

/// Says what a setup would do, and writes nothing.
///
/// # Errors
/// See [`Error`].
pub fn plan_setup(cx: &Context, options: &SetupOptions) -> Result<Setup, Error> {
    Job::new(cx, options)?.planned(cx)
}

/// Sets a home up, or finds that it is.
///
/// # Errors
/// See [`Error`]. What was usable before still is.
pub fn setup(cx: &Context, options: &SetupOptions) -> Result<Setup, Error> {
    let job = Job::new(cx, options)?;
    let cx = &home::with_proxy(cx, options.proxy.as_deref());
    let _lock = job.home.lock(cx)?;
    job.home.sweep();
    let planned = job.planned(cx)?;
    job.perform(cx, &planned)?;
    Ok(planned)
}
