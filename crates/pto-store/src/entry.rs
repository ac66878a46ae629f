//! One entry of the store: whole or not there.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pto_context::Context;

use crate::error::Error;
use crate::inventory::sums_path;
use crate::lock::Lock;
use crate::sums;

pub(crate) const LOCK: &str = ".lock-";
pub(crate) const BUILDING: &str = ".building-";
pub(crate) const TRASH: &str = ".trash-";

/// A handle on an entry, a directory named by its key. Names that start with a dot are the store's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    kind: PathBuf,
    key: String,
}

impl Entry {
    pub(crate) fn new(kind: PathBuf, key: String) -> Self {
        Self { kind, key }
    }

    /// Where the entry is or would be.
    pub fn path(&self) -> PathBuf {
        self.kind.join(&self.key)
    }

    /// The entry's directory, if it is there; then it is complete. Writes nothing.
    pub fn get(&self) -> Option<PathBuf> {
        // Only a rename of a finished directory makes this path: there is no state in between.
        Some(self.path()).filter(|path| path.is_dir())
    }

    /// The entry's directory, built first if it is missing.
    ///
    /// `build` fills the empty directory it is given. If it succeeds, that directory is renamed into place; if it fails
    /// or the process dies, nothing is left that anyone could take for the entry. At most one builder is at work per
    /// key, over all threads and processes; the others wait (an event says so after a moment) and use its result.
    /// `build` must not ask for the entry it is building: that would wait for itself.
    ///
    /// The rename is atomic for everyone on the machine. It survives a crash of the machine as far as the file system
    /// keeps data and rename in order, as ext4, xfs and btrfs do by default for what has been synced.
    ///
    /// # Errors
    /// What `build` returns; [`Error::ReadOnly`] if the entry is missing and the store cannot be written;
    /// [`Error::NoSpace`], [`Error::Interrupted`] while waiting.
    pub fn get_or_build<E: From<Error>>(
        &self,
        cx: &Context,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        self.get_or_build_summed(cx, |dir| {
            build(dir)?;
            Ok(sums::of_dir(dir)?)
        })
    }

    /// The same for a builder that has summed up its files already, as a download does: returns the sha256 of each, in
    /// lower-case hexadecimal, by its path in the directory.
    ///
    /// # Errors
    /// As [`get_or_build`](Self::get_or_build).
    pub fn get_or_build_summed<E: From<Error>>(
        &self,
        cx: &Context,
        build: impl FnOnce(&Path) -> Result<BTreeMap<PathBuf, String>, E>,
    ) -> Result<PathBuf, E> {
        if let Some(path) = self.get() {
            return Ok(path);
        }
        let lock = self.lock(cx)?;
        // Someone else may have built it while we waited.
        if let Some(path) = self.get() {
            return Ok(path);
        }
        self.sweep();
        let building = self.fresh_building_dir()?;
        let result = build(&building);
        if let Err(error) = result.and_then(|sums| self.record(&sums).map_err(E::from)) {
            self.forget(&building);
            return Err(error);
        }
        let path = self.path();
        if let Err(source) = fs_err::rename(&building, &path) {
            self.forget(&building);
            return Err(Error::write("cannot put a finished entry into the store", &self.kind, source).into());
        }
        drop(lock);
        Ok(path)
    }

    /// Removes the entry, if it is there. Whoever has a file of it open keeps that file.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn remove(&self, cx: &Context) -> Result<(), Error> {
        if self.get().is_none() {
            return Ok(());
        }
        let _lock = self.lock(cx)?;
        // Out of the way in one step: an entry that is half removed must not be found.
        let trash = self.trash_name();
        fs_err::rename(self.path(), &trash).map_err(|e| self.write_error(e))?;
        discard(&trash);
        let _ = std::fs::remove_file(sums_path(&self.kind, &self.key));
        Ok(())
    }

    /// Gives up what has been built.
    fn forget(&self, built: &Path) {
        discard(built);
        let _ = std::fs::remove_file(sums_path(&self.kind, &self.key));
    }

    /// Writes down the sums of what has been built. If the process dies before the entry has its name, they are rubbish.
    fn record(&self, sums: &BTreeMap<PathBuf, String>) -> Result<(), Error> {
        fs_err::write(sums_path(&self.kind, &self.key), sums::text(sums)).map_err(|e| self.write_error(e))
    }

    fn lock(&self, cx: &Context) -> Result<Lock, Error> {
        fs_err::create_dir_all(&self.kind).map_err(|e| self.write_error(e))?;
        let kind = self.kind.file_name().unwrap_or_default().to_string_lossy();
        Lock::acquire(cx, &self.kind.join(format!("{LOCK}{}", self.key)), &format!("{kind}/{}", self.key)).map_err(
            |e| match e {
                Error::Io { source, .. } => self.write_error(source),
                other => other,
            },
        )
    }

    /// An empty directory to build in. We hold the lock, so what lies there was left by a process that died.
    fn fresh_building_dir(&self) -> Result<PathBuf, Error> {
        let building = self.kind.join(format!("{BUILDING}{}", self.key));
        if building.symlink_metadata().is_ok() {
            // Moved away first: a child of the dead process may still be writing in it, and must not write into ours.
            let trash = self.trash_name();
            fs_err::rename(&building, &trash).map_err(|e| self.write_error(e))?;
            discard(&trash);
        }
        fs_err::create_dir(&building).map_err(|e| self.write_error(e))?;
        Ok(building)
    }

    fn trash_name(&self) -> PathBuf {
        let nanos = std::time::UNIX_EPOCH.elapsed().map(|time| time.as_nanos()).unwrap_or_default();
        self.kind.join(format!("{TRASH}{nanos}-{}", std::process::id()))
    }

    /// Deletes what dead processes left of other entries of this kind. Best effort: it is only space.
    fn sweep(&self) {
        let Ok(listing) = std::fs::read_dir(&self.kind) else { return };
        for name in listing.flatten().map(|item| item.file_name()) {
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(TRASH) {
                discard(&self.kind.join(name));
            } else if let Some(key) = name.strip_prefix(BUILDING)
                && key != self.key
                && let Ok(Some(_lock)) = Lock::try_acquire(&self.kind.join(format!("{LOCK}{key}")))
            {
                discard(&self.kind.join(name));
            }
        }
    }

    fn write_error(&self, source: std::io::Error) -> Error {
        match source.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                Error::ReadOnly { entry: self.path(), source }
            }
            _ => Error::write("cannot write to the store", &self.kind, source),
        }
    }
}

/// Deletes a directory nobody needs. If that fails, the next builder's sweep tries again.
fn discard(dir: &Path) {
    let _ = std::fs::remove_dir_all(dir);
}
