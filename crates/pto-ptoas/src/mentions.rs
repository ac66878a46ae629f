//! Which versions of PTOAS the documents and scripts of a checkout mention. Pins drift apart: a workflow keeps an old one, a
//! page another, and what fails then looks like a bug of the compiler.

use std::path::{Path, PathBuf};

use pto_platform::Version;
use serde::Serialize;

/// Files that may mention a version.
const KINDS: [&str; 13] =
    ["md", "rst", "txt", "sh", "yml", "yaml", "toml", "py", "env", "json", "cfg", "cmake", "dockerfile"];

/// Directories that hold what others wrote or what was built.
const SKIPPED: [&str; 8] =
    ["build", "node_modules", "target", "third_party", "3rdparty", "dist", "venv", "__pycache__"];

/// Hidden directories that are the project's own.
const HIDDEN: [&str; 2] = [".github", ".claude"];

/// Larger files are data.
const MAX_BYTES: u64 = 1 << 20;

/// A checkout that has more files is no checkout.
const MAX_FILES: usize = 20_000;

/// Words that may stand between the name and the version: `PTOAS_VERSION=v0.61`, `PTOAS/releases/download/v0.61`.
const FILLERS: [&str; 14] = [
    "version", "release", "releases", "download", "tag", "v", "pin", "pinned", "is", "at", "to", "root", "bin",
    "requires",
];

/// How many of them.
const MAX_FILLERS: usize = 4;

/// A place that mentions a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// The file, relative to the checkout.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// The version, as written.
    pub version: String,
}

/// The versions that a text mentions, each with its line from 1.
pub fn mentions_in(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_ascii_lowercase();
        for (at, name) in lower.match_indices("ptoas") {
            if let Some(version) = version_after(&line[at + name.len()..])
                && found.last() != Some(&(index + 1, version.clone()))
            {
                found.push((index + 1, version));
            }
        }
    }
    found
}

/// The version that a text goes on with, behind a few words that may stand before it.
fn version_after(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').map(|word| word.trim_matches('.'));
    for word in words.filter(|word| !word.is_empty()).take(MAX_FILLERS + 1) {
        if let Some(version) = plain_version(word) {
            return Some(version.to_owned());
        }
        if !FILLERS.contains(&word.to_ascii_lowercase().as_str()) {
            return None;
        }
    }
    None
}

/// `v0.61`, `0.1.1`: numbers alone, with a dot, so that `cp310` and file names are none.
fn plain_version(word: &str) -> Option<&str> {
    let numbers = word.strip_prefix('v').unwrap_or(word);
    let is_plain = numbers.contains('.')
        && numbers.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_plain.then_some(word)
}

/// Every mention of another version than the pinned one, in the order of the files.
pub(crate) fn drift(checkout: &Path, pinned: &Version) -> Vec<Mention> {
    let mut files = Vec::new();
    collect(checkout, &mut files);
    let mut mentions = Vec::new();
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let file = path.strip_prefix(checkout).unwrap_or(&path).to_path_buf();
        let others = mentions_in(&String::from_utf8_lossy(&bytes))
            .into_iter()
            .filter(|(_, version)| Version::parse(version).is_some_and(|version| version != *pinned));
        mentions.extend(others.map(|(line, version)| Mention { file: file.clone(), line, version }));
    }
    mentions
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let mut items: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().collect();
    items.sort_by_key(std::fs::DirEntry::file_name);
    for item in items {
        let (Ok(kind), name) = (item.file_type(), item.file_name().to_string_lossy().into_owned()) else { continue };
        // Links are not followed: they may lead anywhere, also back.
        if kind.is_dir() {
            let own = !name.starts_with('.') || HIDDEN.contains(&name.as_str());
            if own && !SKIPPED.contains(&name.as_str()) {
                collect(&item.path(), files);
            }
        } else if kind.is_file() && files.len() < MAX_FILES && may_mention(&name) {
            let is_small = item.metadata().is_ok_and(|meta| meta.len() <= MAX_BYTES);
            files.extend(is_small.then(|| item.path()));
        }
    }
}

/// A history mentions old versions rightly.
fn may_mention(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit('.').next().unwrap_or_default();
    (KINDS.contains(&extension) || lower.contains("dockerfile")) && !lower.starts_with("changelog")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ways_to_mention_a_version_are_known() {
        for (line, version) in [
            ("PTOAS_VERSION=v0.57", Some("v0.57")),
            ("needs `ptoas` 0.55.", Some("0.55")),
            ("ptoas >= v0.61 is required", Some("v0.61")),
            ("curl https://x/PTOAS/releases/download/v0.50/ptoas-bin.tar.gz", Some("v0.50")),
            ("pip install ptoas==0.1.1", Some("0.1.1")),
            ("ptoas-0.61-cp310-cp310-manylinux_2_34_x86_64.whl", Some("0.61")),
            ("PTOAS_SHA256_X86_64=18fd53e0.9", None),
            ("ptoas was rewritten for CANN 9.0.0", None),
            ("ptoas on glibc 2.34", None),
            ("the version 0.61", None),
        ] {
            assert_eq!(mentions_in(line).pop().map(|(_, version)| version).as_deref(), version, "{line}");
        }
        assert_eq!(mentions_in("\nptoas v1.0 and ptoas 1.1\n").len(), 2);
    }

    #[test]
    fn only_other_versions_of_the_projects_own_files_are_drift() {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("README.md", "ptoas v0.55\nptoas v0.57\n"),
            (".github/workflows/ci.yml", "env:\n  PTOAS_VERSION: v0.54\n"),
            (".git/description.txt", "ptoas v0.1"),
            ("build/out.txt", "ptoas v0.1"),
            ("CHANGELOG.md", "ptoas v0.1"),
            ("kernel.cpp", "// ptoas v0.1"),
            ("docker/pypto_dev.Dockerfile", "ARG PTOAS=0.57.0\n"),
        ] {
            let path = dir.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        let drift = drift(dir.path(), &Version::parse("v0.57").unwrap());
        let shown: Vec<_> =
            drift.iter().map(|one| format!("{}:{} {}", one.file.display(), one.line, one.version)).collect();
        assert_eq!(shown, [".github/workflows/ci.yml:2 v0.54", "README.md:1 v0.55"]);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(ptoas|PTOAS|\\PC){0,30}") {
            let _ = mentions_in(&text);
        }
    }
}
