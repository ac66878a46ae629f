//! The answer.

use serde::Serialize;

use super::code::Code;
use super::evidence::Evidence;
use super::fields::Fields;
use super::rule::{Family, Severity};

/// What codes and logs mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Triage {
    /// All in a word.
    pub verdict: Verdict,
    /// In order of causality: the first cause, what it surfaced as, its fallout, then what stands for itself.
    pub findings: Vec<Finding>,
    /// Advice that a log itself gives.
    pub lifted: Vec<Lifted>,
    /// What was read, in the order given.
    pub sources: Vec<Source>,
}

/// All in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Something does not work.
    Fault,
    /// Something is doubtful.
    Doubtful,
    /// Only codes of which nothing is known.
    Unknown,
    /// Only what is expected.
    Harmless,
    /// Nothing was recognised.
    #[default]
    Nothing,
}

/// One trouble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule's id, stable.
    pub id: &'static str,
    /// Its place among the others.
    pub role: Role,
    /// How much it matters by itself.
    pub severity: Severity,
    /// Where it comes from.
    pub family: Family,
    /// One line.
    pub title: String,
    /// What it means.
    pub about: &'static str,
    /// The code, if one was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// What is peculiar to this occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The rule whose finding explains this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_by: Option<&'static str>,
    /// What was taken out of the lines.
    pub fields: Fields,
    /// How often it was seen.
    pub count: u64,
    /// The first few lines that show it.
    pub evidence: Vec<Evidence>,
    /// Why it may have happened, likeliest first.
    pub causes: Vec<Cause>,
    /// The guided answer, if there is one.
    pub guide: Vec<Step>,
}

/// The place of a finding among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// Everything before it is harmless: start here.
    FirstCause,
    /// What the first cause surfaced as: the same trouble in another layer's words.
    Symptom,
    /// It followed from the first cause, and says nothing by itself.
    Fallout,
    /// Another trouble, of its own.
    Separate,
    /// Harmless.
    Expected,
    /// Nothing is known of it.
    Unknown,
}

/// Why something may have happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// One line.
    pub text: String,
    /// What speaks for it: lines, other findings, this machine. Empty if nothing does yet.
    pub evidence: Vec<String>,
    /// The cheapest next check, as a command.
    pub check: String,
}

/// A step of a guided answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// What it is for and what to look at.
    pub why: String,
    /// The command.
    pub command: String,
}

/// An `error detail:` line and the `error hint:` line that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lifted {
    /// What happened, in the log's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do, in the log's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The first of both lines.
    pub evidence: Evidence,
}

/// A log that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// Its name as given.
    pub name: String,
    /// Its lines.
    pub lines: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Lines of which only the head was looked at.
    pub cut_lines: u64,
}

impl Triage {
    /// The finding to start from.
    pub fn first_cause(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.role == Role::FirstCause)
    }
}
