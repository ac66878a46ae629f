//! A path together with the rule that chose it.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use pto_context::Context;
use serde::{Serialize, Serializer};

/// A path of the user's machine, the rule that chose it, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// Why this one.
    pub rule: Rule,
    /// Whether it was there when it was looked for.
    pub exists: bool,
}

/// Why a path was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The caller gave it.
    Explicit,
    /// An environment variable names it.
    Variable(&'static str),
    /// It lies in the CANN root.
    InsideCann,
    /// It was found on `PATH`.
    SearchPath,
    /// It is where an installer puts it by default.
    UsualPlace,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Explicit => f.write_str("given explicitly"),
            Self::Variable(name) => write!(f, "from `{name}`"),
            Self::InsideCann => f.write_str("inside CANN"),
            Self::SearchPath => f.write_str("found on `PATH`"),
            Self::UsualPlace => f.write_str("the usual place"),
        }
    }
}

impl Serialize for Rule {
    /// As it is shown to people.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Located {
    pub(crate) fn missing(path: impl Into<PathBuf>, rule: Rule) -> Self {
        Self { path: path.into(), rule, exists: false }
    }

    pub(crate) fn probe_dir(cx: &Context, path: impl Into<PathBuf>, rule: Rule) -> Self {
        let path = path.into();
        Self { exists: open_path(cx, &path).is_dir(), path, rule }
    }
}

/// The path to open for a path of the user: absolute ones lie under the inspected root, relative ones in the working
/// directory.
pub(crate) fn open_path(cx: &Context, path: &Path) -> PathBuf {
    if path.is_absolute() { cx.under_root(path) } else { cx.cwd().join(path) }
}

/// An executable on the context's `PATH`, as the user's path.
pub(crate) fn on_path(cx: &Context, program: &str) -> Option<Located> {
    let entries: Vec<PathBuf> = std::env::split_paths(cx.var_os("PATH")?).collect();
    let opened: OsString = std::env::join_paths(entries.iter().map(|entry| open_path(cx, entry))).ok()?;
    let found = which::which_in_global(program, Some(opened)).ok()?.next()?;
    let path = entries.into_iter().map(|entry| entry.join(program)).find(|path| open_path(cx, path) == found)?;
    Some(Located { path, rule: Rule::SearchPath, exists: true })
}
