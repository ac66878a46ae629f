//! How a kernel ended, or why it could not be tried.

use std::path::PathBuf;
use std::time::Duration;

use pto_context::with_causes;
use pto_launch::LaunchPath;
use pto_platform::Target;
use serde::{Deserialize, Serialize};

use super::assembly::Assembled;
use super::case_result::{CaseResult, CaseStatus};
use super::error::RunError;
use super::launching::Launching;
use crate::KernelError;
use crate::manifest::Manifest;

/// One kernel on one target.
#[derive(Debug, Clone, Serialize)]
pub struct KernelResult {
    /// Its name.
    pub name: String,
    /// Its manifest.
    pub path: PathBuf,
    /// The target.
    pub target: Target,
    /// The SoC whose cores were counted; on the CPU the one that was played.
    pub soc: Option<&'static str>,
    /// Whether all cases passed.
    pub passed: bool,
    /// How it got to run; nothing if it did not.
    pub launch: Option<Chosen>,
    /// How it was built; nothing if it could not be.
    pub build: Option<BuildReport>,
    /// How it ended.
    pub status: KernelStatus,
    /// Why it could not be tried, when it could not.
    pub error: Option<Problem>,
    /// What to look at first where cases failed.
    pub hints: Vec<String>,
    /// Whether what was asked for is wrong, and no file: this says nothing about the kernel, and is not recorded.
    #[serde(skip)]
    pub usage: bool,
    /// Its cases.
    pub cases: Vec<CaseResult>,
    /// From start to end, in seconds.
    pub seconds: f64,
}

/// The way in which a kernel got to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// The path.
    pub path: LaunchPath,
    /// The rule that led to it.
    pub why: String,
    /// What was left out because of it.
    pub note: Option<String>,
}

/// How a kernel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelStatus {
    /// Every case passed.
    Passed,
    /// A case did not pass.
    Failed,
    /// Its source does not compile or link.
    NotBuilt,
    /// Its manifest, or what the manifest names, is malformed.
    Malformed,
    /// This machine lacks something that it needs.
    Blocked,
    /// It is not written for this target, and nobody asked for it by name.
    Skipped,
    /// The user asked for the end before all its cases were done. Those that were are there.
    Interrupted,
}

impl KernelStatus {
    /// The words for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotBuilt => "does not build",
            Self::Malformed => "malformed",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why something was not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong, and where.
    pub message: String,
    /// What to do about it, where the message does not say so.
    pub hint: Option<String>,
}

impl From<&RunError> for Problem {
    fn from(error: &RunError) -> Self {
        let message = match error {
            // Each finding has its place and its own help.
            RunError::Kernel(KernelError::Manifest(errors)) => errors.render(),
            error => with_causes(error),
        };
        Self { message, hint: error.hint() }
    }
}

/// Why a kernel could not be tried, and what that makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotTried {
    /// `NotBuilt`, `Malformed`, `Blocked`, `Skipped` or `Interrupted`.
    pub status: KernelStatus,
    /// Why.
    pub problem: Problem,
    /// Whether what was asked for is wrong, and no file: [`RunError::is_usage`].
    pub usage: bool,
}

/// How a kernel was built.
#[derive(Debug, Clone, Serialize)]
pub struct BuildReport {
    /// The library that was launched.
    pub library: PathBuf,
    /// Whether it was there already.
    pub cached: bool,
    /// How long it took to get it, in seconds.
    pub seconds: f64,
    /// The compiler, in its own words.
    pub compiler: String,
    /// The PTO-ISA headers.
    pub headers: PathBuf,
    /// What the compiler warned of.
    pub warnings: String,
    /// The `.pto` sources and what they were assembled to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assembled: Vec<Assembled>,
    /// The command lines that made it, as they can be pasted into a shell. They go into the record, not into reports.
    #[serde(skip)]
    pub commands: Vec<String>,
}

impl KernelResult {
    pub(crate) fn new(
        manifest: &Manifest,
        target: Target,
        launching: &Launching,
        note: Option<String>,
        build: BuildReport,
        cases: Vec<CaseResult>,
        duration: Duration,
    ) -> Self {
        let passed = !cases.is_empty() && cases.iter().all(CaseResult::passed);
        let differs = cases.iter().any(|case| !case.passed() && case.is_verdict());
        let blocked = cases.iter().any(|case| case.status == CaseStatus::Blocked);
        Self {
            name: manifest.name.clone(),
            path: manifest.path.clone(),
            target,
            soc: Some(launching.soc.name),
            launch: Some(Chosen { path: launching.path, why: launching.why.clone(), note }),
            passed,
            status: match (passed, differs) {
                (true, _) => KernelStatus::Passed,
                (false, true) => KernelStatus::Failed,
                (false, false) if blocked => KernelStatus::Blocked,
                // All that is wrong is that there was nothing to judge by: that says nothing about the kernel.
                (false, false) => KernelStatus::Malformed,
            },
            build: Some(build),
            error: None,
            hints: Vec::new(),
            usage: false,
            cases,
            seconds: duration.as_secs_f64(),
        }
    }

    /// The same with what to look at first.
    pub(super) fn with_hints(self, hints: Vec<String>) -> Self {
        Self { hints, ..self }
    }

    /// The same of a kernel whose other cases were not begun, or not ended.
    pub(super) fn interrupted(self) -> Self {
        Self { passed: false, status: KernelStatus::Interrupted, ..self }
    }

    /// A kernel that could not be tried. `name` is its directory's when its manifest does not say one.
    pub fn not_tried(name: String, path: PathBuf, target: Target, why: NotTried) -> Self {
        Self {
            name,
            path,
            target,
            soc: None,
            launch: None,
            passed: false,
            status: why.status,
            build: None,
            error: Some(why.problem),
            hints: Vec::new(),
            usage: why.usage,
            cases: Vec::new(),
            seconds: 0.0,
        }
    }
}
