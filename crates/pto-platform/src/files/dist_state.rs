//! `/opt/pypto/dist-state.json`: what was built with a managed patch, so that the patch is told from other edits.

use serde::Serialize;
use serde_json::Value;

use crate::Note;

/// `/opt/pypto/dist-state.json`. Serialized, it is the file itself; the notes are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DistState {
    /// Commit of the runtime that was built.
    pub runtime_sha: Option<String>,
    /// SHA-256 of the runtime's difference from that commit.
    pub diff_sha256: Option<String>,
    /// SHA-256 of the managed patch.
    pub patch_sha256: Option<String>,
    /// SHA-256 of the installed extension.
    pub extension_sha256: Option<String>,
    /// What was not understood.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

/// Reads `dist-state.json`. Members are recognised by what they are about, so `runtime_sha` and `runtime_revision` are
/// the same, also inside another object.
pub fn parse_dist_state(text: &str) -> DistState {
    let mut state = DistState::default();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => {
            for (name, value) in &members {
                state.member(name, value);
            }
        }
        Ok(_) => state.notes.push(Note::whole("expected a JSON object")),
        Err(error) => state.notes.push(Note::new(error.line(), "", format!("not JSON: {error}"))),
    }
    state
}

impl DistState {
    fn member(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (inner, value) in members {
                    self.member(&format!("{name}.{inner}"), value);
                }
            }
            Value::String(text) if !text.trim().is_empty() => self.string(name, text.trim()),
            _ => self.notes.push(Note::new(0, name, "expected a string")),
        }
    }

    fn string(&mut self, name: &str, text: &str) {
        let folded = name.to_ascii_lowercase();
        // The hash's subject is more telling than `runtime`, which the others may carry as well: `runtime_diff_sha256`.
        let slot = if folded.contains("diff") {
            &mut self.diff_sha256
        } else if folded.contains("patch") {
            &mut self.patch_sha256
        } else if folded.contains("ext") || folded.contains("binding") {
            &mut self.extension_sha256
        } else if folded.contains("runtime") {
            &mut self.runtime_sha
        } else {
            return self.notes.push(Note::new(0, name, "a member this version does not know"));
        };
        if slot.is_some() {
            self.notes.push(Note::new(0, name, "a second member about the same; the first counts"));
        } else if text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            *slot = Some(text.to_ascii_lowercase());
        } else {
            self.notes.push(Note::new(0, name, "expected hexadecimal digits"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let state = DistState {
            runtime_sha: Some("a1".repeat(20)),
            diff_sha256: Some("b2".repeat(32)),
            patch_sha256: Some("c3".repeat(32)),
            extension_sha256: Some("d4".repeat(32)),
            notes: vec![],
        };
        assert_eq!(parse_dist_state(&serde_json::to_string(&state).unwrap()), state);
    }

    #[test]
    fn other_spellings_and_noise() {
        let text = r#"{"runtime": {"revision": "AB", "diff_sha256": "01"}, "patch": "zz", "built": "today", "n": 1}"#;
        let state = parse_dist_state(text);
        assert_eq!((state.runtime_sha.as_deref(), state.diff_sha256.as_deref()), (Some("ab"), Some("01")));
        assert_eq!((state.patch_sha256, state.notes.len()), (None, 3));
        for text in ["", "[]", "{", "\"x\""] {
            assert_eq!(parse_dist_state(text).notes.len(), 1, "{text}");
        }
    }
}
