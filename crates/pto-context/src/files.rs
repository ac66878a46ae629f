//! Files of the inspected machine, and the reasons why some cannot be read.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::Context;
use rustix::fs::OFlags;

/// No version file, list or table of kernel facts is larger; more is some other file.
const LARGEST_TEXT: u64 = 16 << 20;
/// As the kernel has it.
const MOST_LINKS: usize = 40;

/// A file that was to be read.
pub enum Reading {
    /// What is in it.
    Text(String),
    /// It is not there.
    Absent,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
}

impl Reading {
    /// The text, if there is any.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

/// Reads a file by its path on the inspected machine; bytes that are no UTF-8 are replaced.
pub fn read(cx: &Context, path: impl AsRef<Path>) -> Reading {
    let path = path.as_ref();
    match bytes(&open_path(cx, path), LARGEST_TEXT) {
        Ok(bytes) => Reading::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Reading::Absent,
        Err(error) => Reading::Unreadable(format!("cannot read `{}`: {}", path.display(), reason(&error))),
    }
}

/// What went wrong, without the path, which the caller names as the user knows it.
pub fn reason(error: &Error) -> String {
    if error.kind() == ErrorKind::Other { error.to_string() } else { error.kind().to_string() }
}

/// The contents of a regular file that has at most so many bytes.
///
/// # Errors
/// It cannot be read, is no regular file, or has more.
pub fn bytes(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::other(format!("it has more than {} MB", most >> 20)));
    }
    Ok(bytes)
}

/// Opens a regular file, and neither waits for a pipe nor starts a device that may lie in its place.
///
/// # Errors
/// It cannot be opened, or is something else.
pub fn open_regular(path: &Path) -> std::io::Result<File> {
    let file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(Error::other("not a regular file"));
    }
    Ok(file)
}

/// Whether there is anything at this path.
pub fn exists(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).exists()
}

/// Whether there is a directory.
pub fn is_dir(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).is_dir()
}

/// Whether there is a file.
pub fn is_file(cx: &Context, path: impl AsRef<Path>) -> bool {
    open_path(cx, path.as_ref()).is_file()
}

/// The names in a directory, sorted; none where it cannot be listed.
pub fn names(cx: &Context, dir: impl AsRef<Path>) -> Vec<String> {
    let entries = fs_err::read_dir(open_path(cx, dir.as_ref()));
    let names = entries.into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The path to open for a path of the inspected machine. In a tree, links are followed as the tree's own system would: one
/// to `/usr/local` means the tree's, not that of the machine this runs on.
pub fn open_path(cx: &Context, path: &Path) -> PathBuf {
    match path.is_absolute() {
        true if is_tree(cx) => cx.root().join(inside(cx.root(), path)),
        true => path.to_owned(),
        false => cx.cwd().join(path),
    }
}

/// The path in a tree with every link resolved, relative to the root. A chain of links without an end stays unresolved,
/// and cannot be opened.
fn inside(root: &Path, path: &Path) -> PathBuf {
    let mut rest: Vec<_> = parts(path);
    let mut resolved = PathBuf::new();
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&part);
        match std::fs::read_link(root.join(&next)) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    resolved = PathBuf::new();
                }
                rest.extend(parts(&target));
            }
            _ => resolved = next,
        }
    }
    resolved
}

/// The names of a path, the last first.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let named = |part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    let mut parts: Vec<_> = path.components().filter_map(named).collect();
    parts.reverse();
    parts
}

/// Whether a file tree is inspected, and not the machine this runs on: nothing of it is run then.
pub fn is_tree(cx: &Context) -> bool {
    cx.root() != Path::new("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_tree_stay_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs_err::create_dir_all(root.join("usr/local/cann-9.0.0")).unwrap();
        for (target, link) in [
            ("/usr/local/cann-9.0.0", "usr/local/cann"),
            ("../../../../usr/local/cann", "usr/up"),
            ("b", "usr/a"),
            ("a", "usr/b"),
            (".", "usr/here"),
        ] {
            fs_err::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let resolved = |path: &str| inside(root, Path::new(path));
        assert_eq!(resolved("/usr/local/cann/x"), Path::new("usr/local/cann-9.0.0/x"));
        assert_eq!(resolved("/usr/up/../y"), Path::new("usr/local/y"));
        assert_eq!(resolved("/../../etc"), Path::new("etc"));
        assert_eq!(resolved("/usr/here/here/here/local"), Path::new("usr/local"));
        assert!(!root.join(resolved("/usr/a/x")).exists(), "a circle ends");
    }

    #[test]
    fn only_regular_files_of_a_sensible_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let none: [(&str, &str); 0] = [];
        let cx = Context::fake(dir.path(), none);
        let why = |name: &str| match read(&cx, Path::new("/").join(name)) {
            Reading::Unreadable(why) => why,
            Reading::Text(_) => "text".to_owned(),
            Reading::Absent => "absent".to_owned(),
        };
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        fs_err::File::create(dir.path().join("huge")).unwrap().set_len(LARGEST_TEXT + 1).unwrap();
        fs_err::create_dir(dir.path().join("dir")).unwrap();
        assert_eq!(why("pipe"), "cannot read `/pipe`: not a regular file");
        assert_eq!(why("huge"), "cannot read `/huge`: it has more than 16 MB");
        assert_eq!(why("dir"), "cannot read `/dir`: is a directory");
        assert_eq!(why("gone"), "absent");
    }
}
