//! How this program was started, so that what it advises can be typed as it stands.
//!
//! Libraries write a verb as it is typed in the workspace: `cargo xtask build`. Whoever shows a hint spells it with
//! [`Called::spell`].

use std::ffi::OsStr;
use std::path::Path;

/// The program as it is installed.
pub const PROGRAM: &str = "ptokit";

/// Names of the program that stand for a verb, with the words of that verb. The images carry it under these.
pub const NAMES: [(&str, &[&str]); 6] = [
    ("pypto-build", &["build"]),
    ("pypto-dev", &["container"]),
    ("pypto-doctor", &["doctor"]),
    ("pypto-install-ptoas", &["ptoas", "install"]),
    ("pypto-setup", &["setup"]),
    ("pypto-update", &["update"]),
];

/// What stands before a verb in the workspace.
const IN_WORKSPACE: &str = "cargo xtask";

/// How this program was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Called {
    /// By cargo, from the workspace that it is built in.
    #[default]
    FromWorkspace,
    /// By one of its names, as it is installed: there is no workspace.
    ByName,
}

impl Called {
    /// By the first word of a command line.
    pub fn of(program: Option<&OsStr>) -> Self {
        let name = program.and_then(|program| Path::new(program).file_name()?.to_str());
        // The names that these helpers had as scripts.
        let name = name.map(|name| name.strip_suffix(".sh").unwrap_or(name));
        let is_ours = |name: &str| name == PROGRAM || NAMES.iter().any(|(ours, _)| name == *ours);
        if name.is_some_and(is_ours) { Self::ByName } else { Self::FromWorkspace }
    }

    /// A text in which each verb stands as the user can type it: ``run `cargo xtask build` `` or ``run `pypto-build` ``.
    pub fn spell(self, text: &str) -> String {
        if self == Self::FromWorkspace {
            return text.to_owned();
        }
        let mut parts = text.split(IN_WORKSPACE);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |spelled, rest| spelled + &by_name(rest))
    }
}

/// What follows `cargo xtask`, with what is typed in its place: the name of the verb, else the program.
fn by_name(rest: &str) -> String {
    let after = |words: &[&str]| words.iter().try_fold(rest, |rest, word| word_of(rest, word));
    match NAMES.iter().find_map(|(name, words)| Some((name, after(words)?))) {
        Some((name, rest)) => format!("{name}{rest}"),
        None => format!("{PROGRAM}{rest}"),
    }
}

/// What follows this word, if a text begins with a blank and the whole word.
fn word_of<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(' ')?.strip_prefix(word)?;
    let goes_on = rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '-' || next == '_');
    (!goes_on).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        for (program, called) in [
            ("/opt/pypto/bin/pypto-doctor", Called::ByName),
            ("ptokit", Called::ByName),
            ("docker/scripts/pypto-dev.sh", Called::ByName),
            ("target/debug/xtask", Called::FromWorkspace),
            ("pypto-doctor/xtask", Called::FromWorkspace),
            ("", Called::FromWorkspace),
        ] {
            assert_eq!(Called::of(Some(program.as_ref())), called, "{program}");
        }
        assert_eq!(Called::of(None), Called::FromWorkspace);
    }

    #[test]
    fn verbs_are_spelled_as_they_are_typed() {
        for (written, by_name) in [
            ("`cargo xtask setup` provides it", "`pypto-setup` provides it"),
            ("cargo xtask build && cargo xtask doctor --strict", "pypto-build && pypto-doctor --strict"),
            ("cargo xtask ptoas install", "pypto-install-ptoas"),
            ("`cargo xtask ptoas status` tells more", "`ptokit ptoas status` tells more"),
            ("cargo xtask container run a3", "pypto-dev run a3"),
            ("cargo xtask devices release 3", "ptokit devices release 3"),
            ("cargo xtask builder", "ptokit builder"),
            ("cargo xtask", "ptokit"),
            ("export CC=gcc", "export CC=gcc"),
        ] {
            assert_eq!(Called::ByName.spell(written), by_name);
            assert_eq!(Called::FromWorkspace.spell(written), written);
        }
    }
}
