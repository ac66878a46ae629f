//! All outputs of one launch together.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::{Criterion, Options, Report, Rule, Status};
use crate::Tensor;

/// What the comparison of all outputs found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Every name on either side.
    pub outputs: BTreeMap<String, Report>,
}

impl SetReport {
    /// Whether there is an output and every one is right.
    pub fn passed(&self) -> bool {
        !self.outputs.is_empty() && self.outputs.values().all(Report::passed)
    }

    /// The verdict in one line: of the first output that is wrong, or how many are right.
    pub fn summary(&self) -> String {
        match self.outputs.iter().find(|(_, report)| !report.passed()) {
            Some((name, report)) => format!("`{name}`: {}", report.message),
            None if self.outputs.is_empty() => "nothing was compared: there are no outputs".to_owned(),
            None if self.outputs.len() == 1 => self.outputs.values().map(|report| report.message.as_str()).collect(),
            None => format!("{} outputs agree", self.outputs.len()),
        }
    }
}

/// Every output with its report.
impl fmt::Display for SetReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.outputs.is_empty() {
            return f.write_str(&self.summary());
        }
        for (i, (name, report)) in self.outputs.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}`{name}`: {report}")?;
        }
        Ok(())
    }
}

/// Compares outputs with golden tensors by name; `criterion` says what each is judged by, and is given its name
/// and golden tensor. A golden tensor without an output and an output without a golden tensor are failures.
pub fn compare_set(
    actual: &BTreeMap<String, Tensor>,
    expected: &BTreeMap<String, Tensor>,
    criterion: impl Fn(&str, &Tensor) -> Criterion,
) -> SetReport {
    let mut outputs = BTreeMap::new();
    for (name, expected) in expected {
        let criterion = criterion(name, expected);
        let report = match actual.get(name) {
            Some(actual) => criterion.judge(actual, expected),
            None => criterion.missing(expected),
        };
        outputs.insert(name.clone(), report);
    }
    for (name, actual) in actual.iter().filter(|(name, _)| !expected.contains_key(*name)) {
        outputs.insert(name.clone(), unexpected(actual));
    }
    SetReport { outputs }
}

/// The verdict on a golden tensor without an output.
pub fn missing(expected: &Tensor, rule: &Rule, options: &Options) -> Report {
    Report::unseen(Status::Missing, "the kernel gave no such output".to_owned(), expected, rule, options)
}

/// The verdict on an output without a golden tensor.
pub fn unexpected(actual: &Tensor) -> Report {
    let message = "there is no golden tensor for this output".to_owned();
    Report::unseen(Status::Unexpected, message, actual, &Rule::default_for(actual.dtype()), &Options::default())
}
