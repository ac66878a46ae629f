//! What is wrong with an expression, and where.

use std::ops::Range;

use crate::suggest::nearest;

/// An expression that cannot be read or evaluated.
///
/// `span` counts bytes of the expression's own text, so a caller who knows where that text stands in a file can point
/// into the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What was found and what was expected.
    pub message: String,
    /// The bytes of the expression that are to blame.
    pub span: Range<usize>,
    /// What to write instead, where that is known.
    pub help: Option<String>,
}

impl ExprError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { message: message.into(), span, help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// An unknown name, with the known one nearest to it as help, else the list of what is known.
    pub(crate) fn unknown<'a>(
        what: &str,
        name: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        let error = Self::new(format!("unknown {what} `{name}`"), span);
        match nearest(name, known.clone()) {
            Some(like) => error.with_help(format!("did you mean `{like}`?")),
            None => {
                let list = known.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                if list.is_empty() { error } else { error.with_help(format!("known here: {list}")) }
            }
        }
    }

    /// The expression with the blamed part underlined, for a terminal.
    pub fn render(&self, source: &str) -> String {
        let column = |byte: usize| source.char_indices().take_while(|(at, _)| *at < byte).count();
        let (start, end) = (column(self.span.start), column(self.span.end));
        let marks = "^".repeat((end - start).max(1));
        let help = self.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
        format!("{}\n  {source}\n  {:start$}{marks}{help}", self.message, "")
    }
}
