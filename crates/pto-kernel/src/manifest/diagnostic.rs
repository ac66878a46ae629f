//! What is wrong with a manifest, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One finding: a place, what was found there and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it, for example the nearest name.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Everything that is wrong with one manifest, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestErrors {
    /// The manifest, as the user named it.
    pub path: PathBuf,
    /// At least one finding.
    pub diagnostics: Vec<Diagnostic>,
}

impl ManifestErrors {
    /// The findings with their help, each on lines of their own, as a person reads them.
    pub fn render(&self) -> String {
        let lines = self.diagnostics.iter().map(|finding| render(&self.path, finding));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for ManifestErrors {
    /// One `path:line:column: message` per line, without help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.diagnostics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{finding}", self.path.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for ManifestErrors {}

/// `path:line:column: message`, and the help below it.
pub fn render(path: &Path, finding: &Diagnostic) -> String {
    let help = finding.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
    format!("{}:{finding}{help}", path.display())
}

/// Turns byte offsets of a text into findings and keeps them.
#[derive(Debug)]
pub(crate) struct Sink<'t> {
    text: &'t str,
    errors: Vec<(usize, Diagnostic)>,
    warnings: Vec<(usize, Diagnostic)>,
}

impl<'t> Sink<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, errors: Vec::new(), warnings: Vec::new() }
    }

    /// The text that spans refer to.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.error_with(span, message, None);
    }

    pub(crate) fn error_with(&mut self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        let finding = self.finding(span.start, message.into(), help);
        self.errors.push((span.start, finding));
    }

    pub(crate) fn warn(&mut self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        let finding = self.finding(span.start, message.into(), help);
        self.warnings.push((span.start, finding));
    }

    /// How many errors were found so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors.len()
    }

    /// Errors and warnings, each in the order of the text.
    pub(crate) fn finish(mut self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        self.errors.sort_by_key(|(offset, _)| *offset);
        self.warnings.sort_by_key(|(offset, _)| *offset);
        let strip = |list: Vec<(usize, Diagnostic)>| list.into_iter().map(|(_, finding)| finding).collect();
        (strip(self.errors), strip(self.warnings))
    }

    fn finding(&self, offset: usize, message: String, help: Option<String>) -> Diagnostic {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let line = before.matches('\n').count() + 1;
        Diagnostic { line, column: before[line_start..].chars().count() + 1, message, help }
    }
}

/// Longer names are not compared.
const LONGEST_COMPARED: usize = 64;

/// Help for a name that is not one of `known`: the nearest one, or all of them.
pub(crate) fn nearest_help<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    match nearest(found, known.iter().copied()) {
        Some(nearest) => Some(format!("did you mean `{nearest}`?")),
        None if known.is_empty() => None,
        None => Some(format!("expected {}", alternatives(known))),
    }
}

/// The name that was meant. Half of it may differ: with more it is another word.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes quadratic time, and nobody mistypes a name into one this long.
    if found.len() > LONGEST_COMPARED {
        return None;
    }
    let distance = |name: &&str| strsim::damerau_levenshtein(found, name);
    let nearest = known.into_iter().min_by_key(distance)?;
    (distance(&nearest) * 2 <= nearest.chars().count().max(found.chars().count())).then_some(nearest)
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// `` `a`, `b` or `c` ``.
pub(crate) fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, conjunction: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}
