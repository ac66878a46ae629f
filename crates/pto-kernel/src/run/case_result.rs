//! How a case ended.

use std::collections::BTreeMap;

use pto_golden::Report as OutputReport;
use pto_launch::{Note, Verdict};
use pto_platform::Target;
use serde::{Deserialize, Serialize};

use super::launching::LaunchReport;
use super::repeats::Repeats;
use crate::cases::Case;

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
    /// What it ran on; none if it was not launched.
    pub launch: Option<LaunchReport>,
    /// How often it was launched, and whether all repeats agree.
    pub repeats: Repeats,
    /// The comparison of each output, of the first repeat that is wrong, else of the first of all.
    pub outputs: BTreeMap<String, OutputReport>,
    /// The first input that the kernel wrote to, in words.
    pub overwritten: Option<String>,
    /// What the kernel's runtime counted.
    pub notes: Vec<Note>,
    /// From launch to end by the stream's clock, in seconds; the middle one of the repeats. On the CPU this measures the simulator.
    pub device_seconds: Option<f64>,
    /// From making inputs to the verdict, in seconds.
    pub seconds: f64,
    /// The end of what the kernel wrote to stdout and stderr, if the case did not pass.
    pub captured_output: Option<String>,
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// Every output is right.
    Passed,
    /// An output is wrong, or was never written.
    Differs,
    /// The repeats gave different bits, each of them right or not.
    Nondeterministic,
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
    /// It was not launched: every device is set aside, or in use.
    Blocked,
}

impl CaseStatus {
    /// That of a launch which did not complete; of one that did, the comparison decides.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Completed => None,
            Verdict::Fault { .. } => Some(Self::Fault),
            Verdict::Crashed { .. } => Some(Self::Crashed),
            Verdict::Exited { .. } => Some(Self::Exited),
            Verdict::Hung { .. } => Some(Self::Hung),
        }
    }

    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Differs => "differs",
            Self::Nondeterministic => "nondeterministic",
            Self::Fault => "fault",
            Self::Crashed => "crashed",
            Self::Exited => "exited",
            Self::Hung => "hung",
            Self::NoGolden => "no golden",
            Self::Blocked => "blocked",
        }
    }
}

impl CaseResult {
    /// Whether every output is right.
    pub fn passed(&self) -> bool {
        self.status == CaseStatus::Passed
    }

    /// Whether it says something about the kernel.
    pub fn is_verdict(&self) -> bool {
        !matches!(self.status, CaseStatus::NoGolden | CaseStatus::Blocked)
    }

    /// A case before anything is known of it.
    pub(super) fn started(case: &Case, target: Target, block_dim: u32, repeats: u32) -> Self {
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
            launch: None,
            repeats: Repeats::asked(repeats),
            outputs: BTreeMap::new(),
            overwritten: None,
            notes: Vec::new(),
            device_seconds: None,
            seconds: 0.0,
            captured_output: None,
        }
    }
}
