//! What a record keeps of a bench.

use pto_launch::Timing;
use serde::{Deserialize, Serialize};

use crate::bench::{BenchReport, BenchedCase, BenchedKernel, Measures, Times};

/// The times of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedBench {
    /// What the times are times of.
    pub measures: Measures,
    /// The same in words.
    pub note: String,
    /// How the kernel was timed; `None` if it was not.
    pub timing: Option<Timing>,
    /// The cases in the order in which they ran.
    pub cases: Vec<RecordedTimes>,
}

/// The times of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedTimes {
    /// As the command line takes it, `n=4096`.
    pub case: String,
    /// What it took.
    #[serde(flatten)]
    pub times: Times,
}

impl RecordedBench {
    /// What is kept of a kernel's part of a report.
    pub fn of(report: &BenchReport, kernel: &BenchedKernel) -> Self {
        Self {
            measures: report.measures,
            note: report.note.to_owned(),
            timing: kernel.timing,
            cases: kernel.cases.iter().map(RecordedTimes::of).collect(),
        }
    }
}

impl RecordedTimes {
    fn of(case: &BenchedCase) -> Self {
        Self { case: case.case.clone(), times: case.times.clone() }
    }
}
