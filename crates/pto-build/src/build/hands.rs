//! Files of a checkout, written with the rights of its owner.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pto_checkout::RunAs;
use pto_context::{Context, Readable, write_whole};
use pto_process::{Invocation, Output, Stdin};

use crate::error::{BuildError, Error};

/// Writes `$1`, whole or not at all.
const WRITE: &str = r#"umask 022; cat >"$1.new" && mv -f -- "$1.new" "$1""#;

/// What writes files. For another user that is a child with that user's rights: a root that writes into directories of
/// others can be led astray by links in them, and would leave files there that the owner cannot replace.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    run_as: RunAs,
}

impl Hands {
    pub(crate) fn of(run_as: &RunAs) -> Self {
        Self { run_as: run_as.clone() }
    }

    /// Writes a file, whole or not at all; the directory above it is made.
    pub(crate) fn write(&self, cx: &Context, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        self.make_dir(cx, path.parent().unwrap_or(Path::new("/")))?;
        let failed = Error::write("cannot write what was built down", path);
        if self.run_as.is_other() {
            let write = self.run_as.command("sh").args(["-c", WRITE, "sh"]).arg(path);
            return self.run(cx, path, write.stdin(Stdin::Bytes(bytes.to_vec())));
        }
        write_whole(path, Readable::ByUmask, |file| std::io::Write::write_all(file, bytes)).map_err(failed)
    }

    /// Makes a directory, and those above it.
    pub(crate) fn make_dir(&self, cx: &Context, dir: &Path) -> Result<(), Error> {
        if dir.is_dir() {
            return Ok(());
        }
        if self.run_as.is_other() {
            return self.run(cx, dir, self.run_as.command("mkdir").args(["-p", "--"]).arg(dir));
        }
        fs_err::create_dir_all(dir).map_err(Error::write("cannot make a directory of the checkout", dir))
    }

    /// Removes a file or a whole tree, if it is there. Links are not followed.
    pub(crate) fn remove(&self, cx: &Context, path: &Path) -> Result<(), Error> {
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        if self.run_as.is_other() {
            let removed = self.run(cx, path, self.run_as.command("rm").args(["-rf", "--"]).arg(path));
            return removed.map_err(|error| self.told_apart(path, error));
        }
        let removed = if metadata.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
        removed.map_err(Error::io("cannot remove what was built"))
    }

    /// Moves a file or directory to a place where nothing is, on the same disk. `false` if it cannot be moved.
    pub(crate) fn rename(&self, cx: &Context, from: &Path, to: &Path) -> bool {
        if self.run_as.is_other() {
            // `mv` would copy to another disk.
            let disk = |path: &Path| path.symlink_metadata().map(|metadata| metadata.dev()).ok();
            if disk(from) != to.parent().and_then(disk) {
                return false;
            }
            return self.run(cx, from, self.run_as.command("mv").args(["-T", "--"]).arg(from).arg(to)).is_ok();
        }
        std::fs::rename(from, to).is_ok()
    }

    /// Files of somebody else's, as a build by root left them once, are another matter than a disk that fails.
    fn told_apart(&self, path: &Path, error: Error) -> Error {
        match foreign(path, self.run_as.user().uid) {
            Some(file) if !error.is_interrupted() => {
                BuildError::NotTheOwners { dir: path.to_owned(), file, owner: self.run_as.user() }.into()
            }
            _ => error,
        }
    }

    fn run(&self, cx: &Context, place: &Path, command: Invocation) -> Result<(), Error> {
        let failed = Error::command("write as the owner", place);
        command.run(cx).and_then(Output::require_success).map(drop).map_err(failed)
    }
}

/// The first file below a directory that is not this user's.
fn foreign(path: &Path, uid: u32) -> Option<PathBuf> {
    let metadata = path.symlink_metadata().ok()?;
    if metadata.uid() != uid {
        return Some(path.to_owned());
    }
    let entries = metadata.is_dir().then(|| std::fs::read_dir(path).ok())??;
    entries.flatten().find_map(|entry| foreign(&entry.path(), uid))
}
