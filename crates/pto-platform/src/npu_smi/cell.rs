//! What stands inside a cell: numbers, `used / total`, and the many ways to write "unknown".

use std::str::FromStr;

use serde::Serialize;

use crate::Note;

/// How much of a memory is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// In use.
    pub used: u64,
    /// What there is.
    pub total: u64,
}

impl Usage {
    /// The used part, from 0 to 1; `None` for a memory of size 0.
    pub fn share(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a share of megabytes needs no 64 bits")]
        (self.total > 0).then(|| self.used as f64 / self.total as f64)
    }
}

/// Whether the tool says that it does not know: `-`, `NA`, `N/A`.
pub(super) fn is_unknown(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "" | "-" | "--" | "na" | "n/a" | "nan" | "unknown")
}

/// The text, unless it says "unknown".
pub(super) fn known(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !is_unknown(text))
}

/// Reads the values of one line and keeps a note of each that is neither a value nor "unknown".
pub(super) struct Reader<'n> {
    pub(super) line: usize,
    pub(super) notes: &'n mut Vec<Note>,
}

impl Reader<'_> {
    pub(super) fn number<T: FromStr>(&mut self, text: &str) -> Option<T> {
        let value = known(text)?.parse().ok();
        if value.is_none() {
            self.odd(text, "expected a number");
        }
        value
    }

    /// Keeps a note of a text.
    pub(super) fn odd(&mut self, text: &str, why: &'static str) {
        self.notes.push(Note::new(self.line, text, why));
    }

    /// A measure with one or no decimal, such as watts; infinities and NaN are not measured.
    pub(super) fn measure(&mut self, text: &str) -> Option<f64> {
        self.number::<f64>(text).filter(|value| value.is_finite())
    }

    /// `used / total`, with or without blanks around the slash: five digits push them out.
    pub(super) fn usage(&mut self, text: &str) -> Option<Usage> {
        let text = known(text)?;
        let usage = text.split_once('/').and_then(|(used, total)| {
            Some(Usage { used: used.trim().parse().ok()?, total: total.trim().parse().ok()? })
        });
        if usage.is_none() {
            self.odd(text, "expected `used / total`");
        }
        usage
    }
}

/// Takes the values of a cell off its front, one after another.
pub(super) struct Cursor<'a>(pub(super) &'a str);

impl<'a> Cursor<'a> {
    /// Up to the next blank.
    pub(super) fn word(&mut self) -> &'a str {
        self.take(|text| text.find(char::is_whitespace).unwrap_or(text.len()))
    }

    /// `0 / 0`, `60156/ 65536`, `1/2`, or a single word where there is no slash.
    pub(super) fn pair(&mut self) -> &'a str {
        self.take(|text| {
            let first = text.find(char::is_whitespace).unwrap_or(text.len());
            let blanks = |from: usize| text[from..].len() - text[from..].trim_start().len();
            let after_slash = if text[..first].ends_with('/') {
                first
            } else {
                let slash = first + blanks(first);
                if !text[slash..].starts_with('/') {
                    return first;
                }
                slash + 1
            };
            let total = after_slash + blanks(after_slash);
            text[total..].find(char::is_whitespace).map_or(text.len(), |end| total + end)
        })
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a str {
        self.take(str::len)
    }

    fn take(&mut self, end: impl FnOnce(&str) -> usize) -> &'a str {
        let text = self.0.trim_start();
        let (taken, rest) = text.split_at(end(text));
        self.0 = rest;
        taken.trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_however_they_are_spaced() {
        for (cell, pairs) in [
            ("0    / 0   3373 / 65536", ["0    / 0", "3373 / 65536", ""]),
            ("0 / 0 60156/ 65536", ["0 / 0", "60156/ 65536", ""]),
            ("1/2 3 /4 NA", ["1/2", "3 /4", "NA"]),
            ("N/A 7", ["N/A", "7", ""]),
            ("5 /", ["5 /", "", ""]),
        ] {
            let mut cursor = Cursor(cell);
            assert_eq!([cursor.pair(), cursor.pair(), cursor.pair()], pairs, "{cell}");
        }
    }

    #[test]
    fn unknown_is_no_mistake_and_noise_is_one() {
        let mut notes = Vec::new();
        let mut reader = Reader { line: 7, notes: &mut notes };
        assert_eq!(reader.usage("60156/ 65536"), Some(Usage { used: 60156, total: 65536 }));
        assert_eq!((reader.measure("-"), reader.measure("N/A"), reader.usage("NA")), (None, None, None));
        assert!(reader.notes.is_empty());
        assert_eq!((reader.measure("hot"), reader.usage("5 /"), reader.number::<u8>("300")), (None, None, None));
        assert_eq!(notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["hot", "5 /", "300"]);
    }
}
