//! What a parser did not understand, or understood and found odd.

use std::borrow::Cow;

use serde::Serialize;

/// Characters of a line that a note keeps: enough to recognise it, and a line of a megabyte stays harmless.
const LONGEST_TEXT: usize = 200;

/// A place in a text that a parser did not understand, or understood and found odd. The rest of the text is still read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The line, from 1; 0 where the remark is about the whole text, or the text is JSON.
    pub line: usize,
    /// The line as it stands, cut after 200 characters; in JSON, the member that is meant.
    pub text: String,
    /// What is odd about it.
    pub why: Cow<'static, str>,
}

impl Note {
    pub(crate) fn new(line: usize, text: &str, why: impl Into<Cow<'static, str>>) -> Self {
        Self { line, text: text.trim().chars().take(LONGEST_TEXT).collect(), why: why.into() }
    }

    /// A remark about the text as a whole.
    pub(crate) fn whole(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(0, "", why)
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.text.as_str()) {
            (0, "") => write!(f, "{}", self.why),
            (0, text) => write!(f, "`{text}`: {}", self.why),
            (line, text) => write!(f, "line {line}: `{text}`: {}", self.why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_says_where_and_why() {
        assert_eq!(Note::whole("it is empty").to_string(), "it is empty");
        assert_eq!(Note::new(0, "Id", "expected a number").to_string(), "`Id`: expected a number");
        assert_eq!(Note::new(3, " x ", "expected `y`").to_string(), "line 3: `x`: expected `y`");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let note = Note::new(3, &"ä".repeat(1_000_000), "too long");
        assert_eq!(note.text.chars().count(), LONGEST_TEXT);
    }
}
