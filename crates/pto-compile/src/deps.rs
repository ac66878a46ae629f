//! The files that an entry of the store was made from, and whether they still hold the same.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pto_context::Context;
use pto_store::Entry;
use serde::{Deserialize, Serialize};

use crate::key::{Key, sha256};

/// A change within this time of the recording may not show in a file's modification time, whose clock ticks coarsely.
const RACY_NANOS: u128 = 50_000_000;

/// The files that a result was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dependencies {
    recorded_at: u128,
    files: Vec<Dependency>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Dependency {
    path: PathBuf,
    size: u64,
    modified_at: u128,
    sha256: String,
}

/// A file that an artifact was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// The SHA-256 of what was in it.
    pub sha256: String,
}

/// The files that a built library was made from, as far as they are noted beside it: what the compiler read, without what
/// it had precompiled and without what this crate brings itself.
pub fn inputs_of(library: &Path) -> Vec<Input> {
    let noted = library.parent().and_then(Dependencies::load).unwrap_or_default();
    let ours = |path: &Path| path.components().any(|part| part.as_os_str() == crate::cpu::PRELUDE_KIND);
    let foreign = noted.files.into_iter().filter(|file| !ours(&file.path));
    foreign.map(|Dependency { path, sha256, .. }| Input { path, sha256 }).collect()
}

impl Dependencies {
    /// The file in a store entry that holds them.
    const FILE: &str = "deps.json";

    /// The directory of an entry whose files still hold what they held. One that is not so is removed, to be built anew.
    pub(crate) fn get_fresh(cx: &Context, entry: &Entry) -> Result<Option<PathBuf>, pto_store::Error> {
        let Some(dir) = entry.get() else { return Ok(None) };
        if Self::load(&dir).is_some_and(|deps| deps.changed().is_none()) {
            return Ok(Some(dir));
        }
        entry.remove(cx)?;
        Ok(None)
    }

    /// One digest over the contents of all files that an entry was made from.
    pub(crate) fn digest_of(entry: &Path) -> String {
        Self::load(entry).unwrap_or_default().digest()
    }

    /// One digest over the contents of all files.
    pub(crate) fn digest(&self) -> String {
        Key::new("files").all(self.files.iter().map(|file| &file.sha256)).finish()
    }

    /// Reads all the files.
    pub(crate) fn read(paths: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let mut paths: Vec<PathBuf> = paths.into_iter().collect();
        paths.sort();
        paths.dedup();
        let files = paths.into_iter().map(Dependency::record).collect::<io::Result<_>>()?;
        Ok(Self { recorded_at: nanos(SystemTime::now()), files })
    }

    /// The first file that is gone or holds something else than when it was recorded.
    fn changed(&self) -> Option<&Path> {
        let changed = |file: &&Dependency| !file.same(self.recorded_at);
        self.files.iter().find(changed).map(|file| file.path.as_path())
    }

    /// Notes them in an entry's directory.
    pub(crate) fn save(&self, entry: &Path) -> io::Result<()> {
        let json = serde_json::to_vec(self).expect("paths of a compiler's output are Unicode or were refused");
        fs_err::write(entry.join(Self::FILE), json)
    }

    fn load(entry: &Path) -> Option<Self> {
        serde_json::from_slice(&fs_err::read(entry.join(Self::FILE)).ok()?).ok()
    }
}

impl Dependency {
    fn record(path: PathBuf) -> io::Result<Self> {
        let meta = fs_err::metadata(&path)?;
        let sha256 = sha256(&fs_err::read(&path)?);
        Ok(Self { size: meta.len(), modified_at: nanos(meta.modified()?), sha256, path })
    }

    /// Size and time tell without reading, unless the file may have changed just after it was recorded.
    fn same(&self, recorded_at: u128) -> bool {
        let Ok(meta) = std::fs::metadata(&self.path) else { return false };
        if meta.len() != self.size {
            return false;
        }
        let untouched = meta.modified().is_ok_and(|at| nanos(at) == self.modified_at);
        if untouched && self.modified_at + RACY_NANOS < recorded_at {
            return true;
        }
        std::fs::read(&self.path).is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }
}

fn nanos(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// The paths of a dependency file as compilers write it for make: `target: a b \` over lines, blanks escaped.
pub(crate) fn parse_depfile(text: &str) -> Vec<PathBuf> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    joined.lines().flat_map(prerequisites).collect()
}

fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let Some((_, list)) = rule.split_once(": ") else { return Vec::new() };
    let mut paths = vec![String::new()];
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        let last = paths.last_mut().expect("never empty");
        match (c, chars.peek()) {
            ('\\', Some(&next @ (' ' | '#' | '\\' | ':'))) => {
                last.push(next);
                chars.next();
            }
            ('$', Some('$')) => {
                last.push('$');
                chars.next();
            }
            (' ' | '\t', _) => paths.push(String::new()),
            _ => last.push(c),
        }
    }
    paths.into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depfiles_of_both_compilers() {
        let text = "out.o: a.cpp /usr/include/x.h \\\n  with\\ blank.hpp b$$.hpp\n\n/usr/include/x.h:\n";
        assert_eq!(parse_depfile(text), ["a.cpp", "/usr/include/x.h", "with blank.hpp", "b$.hpp"].map(PathBuf::from));
    }

    #[test]
    fn a_change_is_seen_even_with_size_and_time_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.h");
        fs_err::write(&file, "int a;").unwrap();
        let deps = Dependencies::read([file.clone()]).unwrap();
        assert_eq!(deps.changed(), None);
        let time = fs_err::metadata(&file).unwrap().modified().unwrap();
        fs_err::write(&file, "int b;").unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        assert_eq!(deps.changed(), Some(file.as_path()));
    }

    #[test]
    fn a_missing_file_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.h");
        fs_err::write(&file, "int a;").unwrap();
        let deps = Dependencies::read([file.clone()]).unwrap();
        fs_err::remove_file(&file).unwrap();
        assert_eq!(deps.changed(), Some(file.as_path()));
    }
}
