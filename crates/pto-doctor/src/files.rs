//! Files of the inspected machine, and the reasons why some cannot be read.

use std::io::ErrorKind;
use std::path::Path;

use pto_context::Context;

/// A file that was to be read.
pub(crate) enum Reading {
    Text(String),
    Absent,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
}

impl Reading {
    /// The text, if there is any.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

/// Reads a file by its path on the inspected machine; bytes that are no UTF-8 are replaced.
pub(crate) fn read(cx: &Context, path: impl AsRef<Path>) -> Reading {
    let path = path.as_ref();
    match fs_err::read(open_path(cx, path)) {
        Ok(bytes) => Reading::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Reading::Absent,
        Err(error) => Reading::Unreadable(format!("cannot read `{}`: {}", path.display(), error.kind())),
    }
}

pub(crate) fn exists(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).exists()
}

pub(crate) fn is_dir(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).is_dir()
}

pub(crate) fn is_file(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).is_file()
}

/// The names in a directory, sorted; none where it cannot be listed.
pub(crate) fn names(cx: &Context, dir: impl AsRef<Path>) -> Vec<String> {
    let entries = fs_err::read_dir(open_path(cx, dir.as_ref()));
    let names = entries.into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The path to open for a path of the inspected machine.
pub(crate) fn open_path(cx: &Context, path: &Path) -> std::path::PathBuf {
    if path.is_absolute() { cx.under_root(path) } else { cx.cwd().join(path) }
}

/// Whether a file tree is inspected, and not the machine this runs on: nothing of it is run then.
pub(crate) fn is_tree(cx: &Context) -> bool {
    cx.root() != Path::new("/")
}
