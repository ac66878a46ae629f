//! What a library of the inspected machine says of the versions of its symbols: `GLIBCXX_3.4.30`.

use std::path::PathBuf;

use pto_context::Context;
use pto_platform::{dotted, highest_symbol_version};

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
            Ok(bytes) => match highest_symbol_version(&bytes, prefix) {
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
