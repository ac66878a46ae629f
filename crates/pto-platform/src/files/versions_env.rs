//! `toolchain/versions.env` of a PyPTO checkout: the PTOAS that it wants.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{SHA256_DIGITS, is_hex};
use crate::entries::{Entries, Entry};
use crate::{Machine, Note, Version};

const VERSION: &str = "PTOAS_VERSION";
const SHA256: &str = "PTOAS_SHA256_";

/// `toolchain/versions.env`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionsEnv {
    /// `PTOAS_VERSION`, as written: `v0.61`.
    pub ptoas: Option<Version>,
    /// `PTOAS_SHA256_AARCH64` and `PTOAS_SHA256_X86_64`: digest of the release asset for each machine, in lower case.
    pub sha256: BTreeMap<&'static str, String>,
    /// Every other key.
    pub other: BTreeMap<String, String>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

impl VersionsEnv {
    /// The version without the `v` of the tag: `0.61`, as `ptoas --version` prints it.
    pub fn ptoas_number(&self) -> Option<&str> {
        self.ptoas.as_ref().map(|version| version.as_str().trim_start_matches('v'))
    }

    /// The digest of the asset for a machine.
    pub fn sha256_for(&self, machine: Machine) -> Option<&str> {
        self.sha256.get(machine.name()).map(String::as_str)
    }
}

/// Reads `toolchain/versions.env`.
pub fn parse_versions_env(text: &str) -> VersionsEnv {
    let mut entries = Entries::read(text);
    let mut env = VersionsEnv {
        ptoas: None,
        sha256: BTreeMap::new(),
        other: BTreeMap::new(),
        notes: std::mem::take(&mut entries.notes),
    };
    for entry in entries.all {
        env.take(Entry { value: without_comment(entry.value), ..entry });
    }
    env
}

impl VersionsEnv {
    /// As in a shell, the last of two assignments counts.
    fn take(&mut self, entry: Entry<'_>) {
        if entry.key == VERSION {
            self.ptoas = Version::parse(entry.value);
            if self.ptoas.is_none() {
                self.notes.push(Note::new(entry.line, entry.value, "expected a version such as `v0.61`"));
            }
        } else if let Some(machine) = entry.key.strip_prefix(SHA256) {
            self.digest(entry, machine);
        } else {
            self.other.insert(entry.key.to_owned(), entry.value.to_owned());
        }
    }

    fn digest(&mut self, entry: Entry<'_>, machine: &str) {
        match machine.parse::<Machine>() {
            Ok(machine) if is_hex(entry.value, SHA256_DIGITS) => {
                self.sha256.insert(machine.name(), entry.value.to_ascii_lowercase());
            }
            Ok(_) => self.notes.push(Note::new(entry.line, entry.value, "expected 64 hexadecimal digits")),
            Err(_) => self.notes.push(Note::new(entry.line, entry.key, "not a machine that CANN is built for")),
        }
    }
}

fn without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_checked() {
        let digest = "0A".repeat(32);
        let text = format!(
            "# pins\nPTOAS_VERSION=v0.70 # next\nPTOAS_SHA256_X86_64={digest}\nPTOAS_SHA256_AARCH64=12\nPTOAS_SHA256_RISCV=1\nUV=1\n"
        );
        let env = parse_versions_env(&text);
        assert_eq!((env.ptoas_number(), env.other["UV"].as_str()), (Some("0.70"), "1"));
        assert_eq!(env.sha256_for(Machine::X86_64), Some(digest.to_lowercase().as_str()));
        assert_eq!(env.sha256_for(Machine::Aarch64), None);
        assert_eq!(env.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [4, 5]);
    }
}
