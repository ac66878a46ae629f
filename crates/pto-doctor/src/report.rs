//! What an examination came to, for people and for programs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use pto_platform::Target;

use crate::finding::Status;

/// One check of an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The check.
    pub id: String,
    /// The verdict.
    pub status: Status,
    /// What it is about.
    pub title: String,
    /// What was seen.
    pub evidence: String,
    /// What to do, where something is to be done.
    pub remedy: Option<String>,
    /// The line for people, without the status.
    #[serde(skip)]
    pub line: String,
}

/// What a machine can do for one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    /// The target.
    pub target: Target,
    /// Whether its kernels compile here.
    pub compile: bool,
    /// Whether they run here.
    pub run: bool,
}

impl std::fmt::Display for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match (self.target, self.compile, self.run) {
            (Target::Cpu, ..) => "",
            (_, true, true) => " (compile and run)",
            (_, true, false) => " (compile)",
            (_, false, _) => " (run)",
        };
        write!(f, "{}{what}", self.target)
    }
}

/// An examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Every check, in order.
    pub checks: Vec<CheckReport>,
    /// What the machine can do, as far as the checks tell.
    pub ready_for: Vec<Readiness>,
    /// Single facts by name, for comparisons.
    #[serde(skip)]
    pub facts: BTreeMap<String, String>,
}

impl Report {
    /// Whether no check failed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.status != Status::Fail)
    }

    /// The verdict in one line: `environment looks good.`, or what failed.
    pub fn closing(&self) -> String {
        let failed: Vec<String> = self
            .checks
            .iter()
            .filter(|check| check.status == Status::Fail)
            .map(|check| format!("`{}`", check.id))
            .collect();
        match failed.len() {
            0 => "environment looks good.".to_owned(),
            1 => format!("1 check failed: {}", failed[0]),
            count => format!("{count} checks failed: {}", failed.join(", ")),
        }
    }

    /// What the machine can do, in one line: `ready for: cpu`.
    pub fn ready(&self) -> String {
        let ready: Vec<String> = self.ready_for.iter().map(ToString::to_string).collect();
        format!("ready for: {}", if ready.is_empty() { "nothing yet".to_owned() } else { ready.join(", ") })
    }
}
