//! Expressions of the manifest: findings point into the string they stand in.

use std::ops::Range;

use pto_golden::Expr;

use super::diagnostic::{Sink, nearest_help};
use super::fields::At;

/// Names an expression may use, and how they are called in messages.
pub(crate) struct Scope<'a> {
    /// For example `dim`.
    pub(crate) noun: &'static str,
    pub(crate) names: Vec<&'a str>,
}

/// Parses an expression and checks its names.
pub(crate) fn expression(text: &At<String>, what: &str, scope: &Scope<'_>, sink: &mut Sink<'_>) -> Option<Expr> {
    let inner = inner_start(text, sink.text());
    let span_at = |range: Range<usize>| match inner {
        Some(start) => start + range.start..start + range.end,
        None => text.span.clone(),
    };
    let expr = match Expr::parse(&text.value) {
        Ok(expr) => expr,
        Err(error) => {
            let message = format!("{what} is `{}`: {}", text.value, error.message);
            sink.error_with(span_at(error.span.clone()), message, error.help);
            return None;
        }
    };
    let unknown: Vec<String> = expr.names().into_iter().filter(|name| !scope.names.contains(&name.as_str())).collect();
    for name in &unknown {
        let help = nearest_help(name, scope.names.iter().copied());
        let message = format!("unknown {} `{name}` in {what}", scope.noun);
        sink.error_with(span_at(word_span(&text.value, name)), message, help);
    }
    unknown.is_empty().then_some(expr)
}

/// Where the string's content starts in the manifest, if every byte of it stands there as it is.
fn inner_start(text: &At<String>, manifest: &str) -> Option<usize> {
    let raw = manifest.get(text.span.clone())?;
    let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
    let inner = raw.get(quotes..raw.len().checked_sub(quotes)?)?;
    (inner == text.value).then_some(text.span.start + quotes)
}

/// Where a name stands in an expression as a word of its own.
fn word_span(text: &str, name: &str) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let alone =
        |&(at, found): &(usize, &str)| !text[..at].ends_with(is_word) && !text[at + found.len()..].starts_with(is_word);
    text.match_indices(name).find(alone).map_or(0..0, |(at, found)| at..at + found.len())
}
