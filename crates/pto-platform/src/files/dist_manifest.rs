//! `/opt/pypto/dist-manifest`: which commits and which assembler went into an image, and when.

use serde::Serialize;

use super::{COMMIT_DIGITS, is_hex};
use crate::entries::numbered;
use crate::{Note, Version};

/// `/opt/pypto/dist-manifest`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DistManifest {
    /// Component (`pypto`, `runtime`, `pto-isa`, `pypto-lib`) and commit, in the order of the file.
    pub commits: Vec<(String, String)>,
    /// `ptoas`: the version of the assembler, as written (`v0.61`).
    pub ptoas: Option<Version>,
    /// `built`: when, as written (`2026-09-14T09:19:43Z`).
    pub built: Option<String>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

impl DistManifest {
    /// The commit of a component.
    pub fn commit(&self, component: &str) -> Option<&str> {
        self.commits.iter().find(|(name, _)| name == component).map(|(_, commit)| commit.as_str())
    }
}

/// Reads `dist-manifest`: a name and a value per line.
pub fn parse_dist_manifest(text: &str) -> DistManifest {
    let mut manifest = DistManifest::default();
    for (line, text) in numbered(text) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] => {}
            [comment, ..] if comment.starts_with('#') => {}
            ["built", time] => manifest.built = Some(time.to_owned()),
            ["ptoas", version] if Version::parse(version).is_some() => manifest.ptoas = Version::parse(version),
            [name, commit] if is_hex(commit, COMMIT_DIGITS) => {
                manifest.commits.push((name.to_owned(), commit.to_ascii_lowercase()));
            }
            _ => manifest.notes.push(Note::new(line, text, "expected a name and a commit of 40 hexadecimal digits")),
        }
    }
    manifest
}
