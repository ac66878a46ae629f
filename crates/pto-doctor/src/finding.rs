//! What one check came to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a check ended. Ordered from best to worst, a skip being no verdict at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does not apply to this machine, or could not be looked at; the evidence says which.
    Skip,
    /// As it should be.
    Ok,
    /// Worth knowing; work goes on.
    Warn,
    /// Work will fail.
    Fail,
}

impl Status {
    /// The word that is printed and stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The verdict of one check with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Finding {
    /// The verdict.
    pub status: Status,
    /// What was seen.
    pub evidence: String,
    /// What to do, for a shell where a shell can do it.
    pub remedy: Option<String>,
    /// Whether the check could not prove what it is about: tolerated, except by a strict examination.
    pub unverified: bool,
}

impl Finding {
    fn new(status: Status, evidence: impl Into<String>) -> Self {
        Self { status, evidence: evidence.into(), remedy: None, unverified: false }
    }

    /// As it should be.
    pub fn ok(evidence: impl Into<String>) -> Self {
        Self::new(Status::Ok, evidence)
    }

    /// Worth knowing.
    pub fn warn(evidence: impl Into<String>) -> Self {
        Self::new(Status::Warn, evidence)
    }

    /// Work will fail.
    pub fn fail(evidence: impl Into<String>) -> Self {
        Self::new(Status::Fail, evidence)
    }

    /// Not applicable, or not readable.
    pub fn skip(evidence: impl Into<String>) -> Self {
        Self::new(Status::Skip, evidence)
    }

    /// What to do about it.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// A strict examination takes this for a failure.
    pub const fn unverified(mut self) -> Self {
        self.unverified = true;
        self
    }
}
