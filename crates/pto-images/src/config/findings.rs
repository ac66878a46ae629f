//! Everything that is wrong with a document, or worth knowing about it.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a check of a document found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The document.
    pub file: PathBuf,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it is a mistake.
    pub severity: Severity,
    /// Its place: a JSON pointer, or line and column if the document is not JSON.
    pub place: String,
    /// What was found and what was expected.
    pub message: String,
}

/// Whether a finding is a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It is a mistake: the document is not used.
    Error,
    /// It is not a mistake, but worth knowing.
    Note,
}

impl Findings {
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), findings: Vec::new() }
    }

    /// A mistake that concerns the whole document.
    pub(crate) fn of(file: &Path, message: String) -> Self {
        let mut findings = Self::new(file);
        findings.error("/", message);
        findings
    }

    pub(crate) fn error(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Error, place.into(), message.into());
    }

    /// Adds something to know that is no mistake.
    pub fn note(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Note, place.into(), message.into());
    }

    fn add(&mut self, severity: Severity, place: String, message: String) {
        // A message may quote a value of the document, which must not control the terminal.
        let message = message.replace(char::is_control, "\u{fffd}");
        self.findings.push(Finding { severity, place, message });
    }

    /// Whether there is a mistake.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// How many mistakes there are.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }

    /// The findings for people, one per line, without colour.
    pub fn render(&self) -> String {
        let lines = self.findings.iter().map(|finding| {
            let severity = if finding.severity == Severity::Error { "error" } else { "note" };
            format!("{severity}: {}", finding.text(&self.file))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Finding {
    /// Place and message for people: ``FILE at `/images/0/tag`: MESSAGE``, or `FILE:3:5: MESSAGE`.
    pub fn text(&self, file: &Path) -> String {
        let Self { place, message, .. } = self;
        let file = file.display();
        if place.starts_with('/') {
            format!("{file} at `{place}`: {message}")
        } else {
            format!("{file}:{place}: {message}")
        }
    }
}
