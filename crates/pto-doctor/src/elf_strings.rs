//! Symbol versions of a library, as `strings` would find them: `GLIBCXX_3.4.30`.

use std::path::PathBuf;

use memchr::memmem;
use pto_context::Context;

use crate::{facts, files};

/// glibc and libstdc++ have some MB.
const LARGEST_LIBRARY: u64 = 256 << 20;

/// What a library says of the versions of its symbols.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SymbolVersion {
    /// Nobody looked.
    #[default]
    NotAsked,
    /// It is not where distributions keep it.
    Absent,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It has none behind the prefix.
    None(PathBuf),
    /// The highest.
    Highest(PathBuf, Vec<u32>),
}

impl SymbolVersion {
    /// Looks into a library of the inspected machine.
    pub(crate) fn of(cx: &Context, library: &str, prefix: &str) -> Self {
        let Some(path) = facts::library(cx, library) else { return Self::Absent };
        match files::bytes(&files::open_path(cx, &path), LARGEST_LIBRARY) {
            Err(error) => Self::Unreadable(format!("cannot read `{}`: {}", path.display(), files::reason(&error))),
            Ok(bytes) => match highest_version(&bytes, prefix) {
                None => Self::None(path),
                Some(version) => Self::Highest(path, version),
            },
        }
    }

    /// `3.4.30`, if it is known.
    pub(crate) fn known(&self) -> Option<String> {
        match self {
            Self::Highest(_, version) => Some(dotted(version)),
            _ => None,
        }
    }
}

/// The highest version behind a prefix, for example `3.4.30` behind `GLIBCXX_`; `None` when the prefix never has one.
pub(crate) fn highest_version(bytes: &[u8], prefix: &str) -> Option<Vec<u32>> {
    memmem::find_iter(bytes, prefix).filter_map(|at| version(&bytes[at + prefix.len()..])).max()
}

/// The dotted numbers that a text begins with.
fn version(bytes: &[u8]) -> Option<Vec<u32>> {
    let end =
        bytes.iter().take(20).position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(bytes.len().min(20));
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    text.split('.').map(|part| part.parse().ok()).collect()
}

/// `3.4.30`.
pub(crate) fn dotted(version: &[u32]) -> String {
    version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let bytes = b"\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0GLIBCXX_DEBUG_MESSAGE_LENGTH\0GLIBCXX_3.4";
        assert_eq!(highest_version(bytes, "GLIBCXX_"), Some(vec![3, 4, 28]));
        assert_eq!(highest_version(bytes, "CXXABI_"), None);
        assert_eq!(dotted(&[3, 4, 28]), "3.4.28");
    }
}
