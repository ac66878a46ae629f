//! `runtime/pto_isa.pin`: the commit of PTO-ISA that the runtime is built against.

use serde::Serialize;

use super::{COMMIT_DIGITS, is_hex};
use crate::Note;
use crate::entries::numbered;

/// `runtime/pto_isa.pin`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PtoIsaPin {
    /// The commit, 40 digits in lower case.
    pub commit: Option<String>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// Reads `runtime/pto_isa.pin`: one full commit, perhaps among comments.
pub fn parse_pto_isa_pin(text: &str) -> PtoIsaPin {
    let mut pin = PtoIsaPin::default();
    let lines = numbered(text).map(|(line, text)| (line, text.trim()));
    for (line, text) in lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        if !is_hex(text, COMMIT_DIGITS) {
            pin.notes.push(Note::new(line, text, "expected a commit of 40 hexadecimal digits"));
        } else if pin.commit.is_some() {
            pin.notes.push(Note::new(line, text, "a second commit; the first counts"));
        } else {
            pin.commit = Some(text.to_ascii_lowercase());
        }
    }
    if pin.commit.is_none() && pin.notes.is_empty() {
        pin.notes.push(Note::whole("the file is empty; expected a commit of 40 hexadecimal digits"));
    }
    pin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_a_full_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let pin = parse_pto_isa_pin(&format!("# PTO-ISA\n{}\n", commit.to_uppercase()));
        assert_eq!((pin.commit.as_deref(), pin.notes), (Some(commit), vec![]));
        for text in ["", "main\n", "0123456\n"] {
            let pin = parse_pto_isa_pin(text);
            assert_eq!((pin.commit, pin.notes.len()), (None, 1), "{text}");
        }
    }
}
