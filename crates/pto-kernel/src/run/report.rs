//! What a run found, as it is shown and saved.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::with_causes;
use pto_golden::Report as OutputReport;
use pto_launch::Note;
use pto_platform::{Soc, Target};
use serde::Serialize;

use super::error::RunError;
use crate::KernelError;
use crate::cases::Case;
use crate::manifest::Manifest;

/// All kernels of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// `ptokit.kernel-test/1`.
    pub schema: &'static str,
    /// Whether every case of every kernel passed; kernels that are skipped do not count.
    pub passed: bool,
    /// The kernels in the order they were asked for.
    pub kernels: Vec<KernelResult>,
    /// How many there were, and how many passed.
    pub totals: Totals,
}

/// How many kernels and cases there were, and how many cases passed. Skipped kernels do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Kernels that were asked for.
    pub kernels: usize,
    /// Cases run.
    pub cases: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that did not.
    pub failed: usize,
}

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
    /// How it was built; nothing if it could not be.
    pub build: Option<BuildReport>,
    /// How it ended.
    pub status: KernelStatus,
    /// Why it could not be tried, when it could not.
    pub error: Option<Problem>,
    /// Its cases.
    pub cases: Vec<CaseResult>,
    /// From start to end, in seconds.
    pub seconds: f64,
}

/// How a kernel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    /// `NotBuilt`, `Malformed`, `Blocked` or `Skipped`.
    pub status: KernelStatus,
    /// Why.
    pub problem: Problem,
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
}

/// One case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The case as the command line takes it, `n=4096`.
    pub case: String,
    /// The dynamic dims.
    pub dims: BTreeMap<String, i64>,
    /// The target.
    pub target: Target,
    /// Where the case comes from.
    pub origin: String,
    /// What random inputs were made from.
    pub seed: u64,
    /// Blocks launched.
    pub block_dim: u32,
    /// How it ended.
    pub status: CaseStatus,
    /// The same in one line.
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
    /// The comparison of each output.
    pub outputs: BTreeMap<String, OutputReport>,
    /// What the kernel's runtime counted.
    pub notes: Vec<Note>,
    /// From launch to end by the stream's clock, in seconds. On the CPU this measures the simulator.
    pub device_seconds: Option<f64>,
    /// From making inputs to the verdict, in seconds.
    pub seconds: f64,
    /// The end of what the kernel wrote to stdout and stderr, if the case did not pass.
    pub captured_output: Option<String>,
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// Every output is right.
    Passed,
    /// An output is wrong, or was never written.
    Differs,
    /// The device reported an error: a deadlock, an access out of bounds.
    Fault,
    /// The process died by a signal.
    Crashed,
    /// The process ended without a result.
    Exited,
    /// It did not end in time.
    Hung,
    /// The golden command failed or gave no usable tensor.
    NoGolden,
}

impl CaseStatus {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Differs => "differs",
            Self::Fault => "fault",
            Self::Crashed => "crashed",
            Self::Exited => "exited",
            Self::Hung => "hung",
            Self::NoGolden => "no golden",
        }
    }
}

impl CaseResult {
    /// Whether every output is right.
    pub fn passed(&self) -> bool {
        self.status == CaseStatus::Passed
    }

    /// A case before anything is known of it.
    pub(super) fn started(case: &Case, target: Target, block_dim: u32) -> Self {
        Self {
            case: case.to_string(),
            dims: case.dims.clone(),
            target,
            origin: case.origin.to_string(),
            seed: case.seed,
            block_dim,
            status: CaseStatus::NoGolden,
            message: String::new(),
            hint: None,
            outputs: BTreeMap::new(),
            notes: Vec::new(),
            device_seconds: None,
            seconds: 0.0,
            captured_output: None,
        }
    }
}

impl KernelResult {
    pub(super) fn new(
        manifest: &Manifest,
        target: Target,
        soc: &'static Soc,
        build: BuildReport,
        cases: Vec<CaseResult>,
        duration: Duration,
    ) -> Self {
        let passed = !cases.is_empty() && cases.iter().all(CaseResult::passed);
        let differs = cases.iter().any(|case| !case.passed() && case.status != CaseStatus::NoGolden);
        Self {
            name: manifest.name.clone(),
            path: manifest.path.clone(),
            target,
            soc: Some(soc.name),
            passed,
            status: match (passed, differs) {
                (true, _) => KernelStatus::Passed,
                (false, true) => KernelStatus::Failed,
                // All that is wrong is that there was nothing to judge by: that says nothing about the kernel.
                (false, false) => KernelStatus::Malformed,
            },
            build: Some(build),
            error: None,
            cases,
            seconds: duration.as_secs_f64(),
        }
    }

    /// A kernel that could not be tried. `name` is its directory's when its manifest does not say one.
    pub(super) fn not_tried(name: String, path: PathBuf, target: Target, why: NotTried) -> Self {
        Self {
            name,
            path,
            target,
            soc: None,
            passed: false,
            status: why.status,
            build: None,
            error: Some(why.problem),
            cases: Vec::new(),
            seconds: 0.0,
        }
    }
}

impl Report {
    /// The schema of the JSON document.
    pub const SCHEMA: &'static str = "ptokit.kernel-test/1";

    /// All results together.
    pub fn new(kernels: Vec<KernelResult>) -> Self {
        let counted = || kernels.iter().filter(|kernel| kernel.status != KernelStatus::Skipped);
        let cases = || kernels.iter().flat_map(|kernel| &kernel.cases);
        let passed = cases().filter(|case| case.passed()).count();
        let totals =
            Totals { kernels: counted().count(), cases: cases().count(), passed, failed: cases().count() - passed };
        let all = counted().next().is_some() && counted().all(|kernel| kernel.passed);
        Self { schema: Self::SCHEMA, passed: all, kernels, totals }
    }
    /// Writes it as JSON, whole or not at all: somebody may be reading the last one. Directories are made.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new(""));
        fs_err::create_dir_all(dir)?;
        let json = serde_json::to_vec_pretty(self)?;
        let partial = dir.join(format!(".report.{}.json", std::process::id()));
        fs_err::write(&partial, json).and_then(|()| fs_err::rename(&partial, path)).inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
    }
}
