//! What a kernel's sources, manifest and bindings show that compiles and yet goes wrong: read off the syntax tree, never
//! run. A rule that cannot judge a piece of code says nothing of it.
//!
//! ```
//! use pto_kernel::lint::{Rule, Subject, lint_source};
//! use pto_kernel::source::Source;
//! use pto_platform::{Core, Target};
//!
//! let source = Source::parse("k.cpp", "#ifndef PIPE_FIX\n#define PIPE_FIX PIPE_M\n#endif\n");
//! let subject = Subject { targets: vec![Target::A2a3], core: Some(Core::Cube) };
//! let findings = lint_source(&source, &subject);
//! assert_eq!((findings[0].rule, findings[0].line, findings[0].column), (Rule::PipeMacro, 2, 9));
//! ```

mod allow;
mod bindings;
mod flags;
mod launch;
mod literal;
mod macros;
mod manifest;
mod rule;
mod sync;
mod tree;
mod unit;
mod vector_mask;

use std::path::{Path, PathBuf};

use pto_platform::{Core, Target};
use serde::Serialize;

use crate::KernelError;
use crate::manifest::Manifest;
use crate::read;
use crate::source::Source;
use unit::Unit;

pub use rule::{NoSuchRule, Rule};

/// Something that a rule does not like, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The file, as the kernel names it.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The rule.
    pub rule: Rule,
    /// What was found there.
    pub message: String,
    /// What goes wrong.
    pub reason: &'static str,
}

/// What a source is built for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The targets; rules of a generation ask for it here.
    pub targets: Vec<Target>,
    /// The cores; `None` where nobody said.
    pub core: Option<Core>,
}

impl Subject {
    fn builds(&self, target: Target) -> bool {
        self.targets.contains(&target)
    }
}

/// What came of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order of the files, then of their lines.
    pub findings: Vec<Finding>,
    /// How many more there were that somebody allowed.
    pub allowed: usize,
}

/// Looks at a kernel: its manifest, its sources, and the Python files beside it. `allow` are rules that are off, besides
/// those that the manifest and comments turn off.
///
/// # Errors
/// A source cannot be read.
pub fn lint(manifest: &Manifest, allow: &[Rule]) -> Result<Report, KernelError> {
    let subject = Subject { targets: manifest.targets.clone(), core: Some(manifest.core) };
    let failed = |path: &Path, source| KernelError::Read { path: path.to_path_buf(), source };
    let text = read::text(&manifest.path).map_err(|source| failed(&manifest.path, source))?;
    let mut report = Report::default();
    let mut take = |text: &str, findings: Vec<Finding>| {
        let allowed = allow::Allowed::in_text(text);
        let off = |finding: &Finding| {
            allow.contains(&finding.rule)
                || manifest.allow.contains(&finding.rule)
                || allowed.covers(finding.rule, finding.line)
        };
        let (off, on): (Vec<_>, Vec<_>) = findings.into_iter().partition(off);
        report.allowed += off.len();
        report.findings.extend(on);
    };
    take(&text, manifest::check(manifest, &text));
    // Assembly has no C++ to look at; what is generated from it is looked at where it is made.
    for source in manifest.read_sources()?.iter().filter(|source| !Manifest::is_assembly(source.path())) {
        take(source.text(), lint_source(source, &subject));
    }
    for path in bindings::beside(&manifest.dir) {
        let text = read::text(&path).map_err(|source| failed(&path, source))?;
        take(&text, bindings::check(&path, &text));
    }
    report.findings.sort();
    Ok(report)
}

/// Looks at one source, with the headers that it includes by quotes. Comments that allow something are not asked.
pub fn lint_source(source: &Source, subject: &Subject) -> Vec<Finding> {
    let unit = Unit::of(source);
    let mut findings = macros::check(source, subject);
    findings.extend(literal::check(source, subject));
    findings.extend(launch::check(source));
    findings.extend(vector_mask::check(&unit, subject));
    findings.extend(flags::check(&unit));
    findings.extend(sync::check(&unit));
    findings.sort();
    findings.dedup();
    findings
}

/// Looks at one Python file. Comments that allow something are not asked.
pub fn lint_python(path: &Path, text: &str) -> Vec<Finding> {
    bindings::check(path, text)
}

/// Makes findings of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> Place<'a> {
    fn of(source: &'a Source) -> Self {
        Self { path: source.path(), text: source.text() }
    }

    fn finding(self, at: usize, rule: Rule, message: impl Into<String>) -> Finding {
        let before = self.text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Finding {
            path: self.path.to_path_buf(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            rule,
            message: message.into(),
            reason: rule.reason(),
        }
    }
}
