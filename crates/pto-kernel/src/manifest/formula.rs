//! An expression of the manifest together with its text.

use std::ops::Range;

use pto_golden::expr::{Expr, ExprError};

use super::diagnostic::{Sink, nearest_help};
use super::fields::At;

/// A parsed expression and the text it came from.
#[derive(Debug, Clone)]
pub struct Formula {
    text: String,
    expr: Expr,
}

impl Formula {
    /// Parses an expression.
    ///
    /// # Errors
    /// The text is no expression; the error carries the place within the text.
    pub fn parse(text: &str) -> Result<Self, ExprError> {
        Ok(Self { text: text.to_owned(), expr: Expr::parse(text)? })
    }

    /// The text as the author wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parsed expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Its value as a whole number.
    ///
    /// # Errors
    /// A division by zero, an overflow, an unknown name, or an operation that is not for whole numbers.
    pub fn eval(&self, name: &dyn Fn(&str) -> Option<i64>) -> Result<i64, ExprError> {
        self.expr.eval_dim(name)
    }
}

/// Names an expression may use, and how they are called in messages.
pub(crate) struct Scope<'a> {
    /// For example `dim`.
    pub(crate) noun: &'static str,
    pub(crate) names: Vec<&'a str>,
}

/// Parses an expression of the manifest and checks its names. Findings point into the string.
pub(crate) fn formula(text: At<String>, what: &str, scope: &Scope<'_>, sink: &mut Sink<'_>) -> Option<Formula> {
    let inner = inner_start(&text, sink.text());
    let span_at = |range: Range<usize>| match inner {
        Some(start) => start + range.start..start + range.end,
        None => text.span.clone(),
    };
    let formula = match Formula::parse(&text.value) {
        Ok(formula) => formula,
        Err(error) => {
            let message = format!("{what} is `{}`: {}", text.value, error.message);
            sink.error_with(span_at(error.span.clone()), message, error.help);
            return None;
        }
    };
    let unknown: Vec<String> =
        formula.expr.names().into_iter().map(|n| n.to_string()).filter(|name| !scope.names.contains(&name.as_str())).collect();
    for name in &unknown {
        let help = nearest_help(name, scope.names.iter().copied());
        sink.error_with(span_at(word_span(&text.value, name)), format!("unknown {} `{name}` in {what}", scope.noun), help);
    }
    unknown.is_empty().then_some(formula)
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
    let alone = |&(at, found): &(usize, &str)| {
        !text[..at].ends_with(is_word) && !text[at + found.len()..].starts_with(is_word)
    };
    text.match_indices(name).find(alone).map_or(0..0, |(at, found)| at..at + found.len())
}
