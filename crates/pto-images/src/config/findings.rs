//! What is wrong with a document, all of it at once.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The document.
    pub file: PathBuf,
    /// In the order of the document.
    pub findings: Vec<Finding>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it counts as a mistake.
    pub severity: Severity,
    /// Where: a JSON pointer, or line and column where the document is no JSON.
    pub place: String,
    /// What was found and what was expected.
    pub message: String,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing is built with it.
    Error,
    /// It is meant so, and worth knowing.
    Note,
}

impl Findings {
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), findings: Vec::new() }
    }

    /// One that concerns the whole document.
    pub(crate) fn of(file: &Path, message: String) -> Self {
        let mut findings = Self::new(file);
        findings.error("/", message);
        findings
    }

    pub(crate) fn error(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Error, place.into(), message.into());
    }

    pub(crate) fn note(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Note, place.into(), message.into());
    }

    fn add(&mut self, severity: Severity, place: String, message: String) {
        // A value that is repeated must not write on the terminal, nor begin a line.
        let message = message.replace(char::is_control, "\u{fffd}");
        self.findings.push(Finding { severity, place, message });
    }

    /// Whether one of them is a mistake.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// How many are.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }

    /// A line each.
    pub fn render(&self) -> String {
        let file = self.file.display();
        let lines = self.findings.iter().map(|finding| {
            let severity = if finding.severity == Severity::Error { "error" } else { "note" };
            format!("{severity}: {file}{}: {}", place(&finding.place), finding.message)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// `file:3:5` for lines, `file at /images/0/tag` for pointers.
fn place(place: &str) -> String {
    if place.starts_with('/') { format!(" at `{place}`") } else { format!(":{place}") }
}
