//! From a pin to a directory in the store.

use std::path::{Path, PathBuf};

use pto_context::{Context, Event, counted};
use pto_store::{Error as StoreError, Store};

use crate::client::{self, Delivery, Workplace};
use crate::error::Error;
use crate::pin::{WheelPin, megabytes};
use crate::unpack::Job;
use crate::{digest, progress};

/// The kind of the entries, and the store's directory for downloads under way.
const KIND: &str = "wheels";
pub(crate) const DOWNLOADS: &str = ".downloads";

impl WheelPin {
    /// The directory with the wheel's files (of the subtree to keep, if the pin names one), fetched if missing.
    ///
    /// # Errors
    /// See [`Error`]; nothing half done is left, and the next call tries again.
    pub fn fetch(&self, cx: &Context, store: &Store) -> Result<PathBuf, Error> {
        let entry = store.entry(KIND, &self.key())?;
        let downloads = store.root().join(DOWNLOADS).join(self.key());
        entry.get_or_build(cx, |target| {
            let message = format!("Fetching {} {} ({})", self.name, self.version, megabytes(self.size));
            cx.emit(Event::Started { task: self.task(), message, total_bytes: Some(self.size) });
            let count = fill(cx, self, &downloads, target)?;
            // Before the entry is written to the disk, so that what nobody needs is not. If some is left, it is only space.
            let _ = std::fs::remove_dir_all(&downloads);
            settle(target)?;
            let message = format!("{} {} ready ({})", self.name, self.version, counted(count, "file"));
            cx.emit(Event::Finished { task: self.task(), message });
            Ok(())
        })
    }

    /// The directory [`fetch`](Self::fetch) would return, if it is there; then it is complete. Writes nothing.
    pub fn find(&self, store: &Store) -> Option<PathBuf> {
        store.entry(KIND, &self.key()).ok()?.get()
    }
}

/// Fills the new entry. Returns the number of its files.
fn fill(cx: &Context, pin: &WheelPin, downloads: &Path, target: &Path) -> Result<usize, Error> {
    let place = workplace(downloads)?;
    let unpack = |file: &Path| {
        let keep = |name: &str| kept_name(pin.keep, name);
        Job { archive: file, limit: pin.unpacked_size, keep: &keep }.unpack(target)
    };
    let kept = place.wheels.join(pin.file);
    let count = if arrived_earlier(pin, &kept)? {
        unpack(&kept)?
    } else {
        // pip does not overwrite a file that it finds there, half or not.
        empty(&place.wheels)?;
        match client::deliver(cx, pin, &place)? {
            Delivery::Wheel { file, origin } => {
                verify(pin, &file, origin)?;
                unpack(&file)?
            }
            Delivery::Tree(tree) => take_over(pin, &tree, target)?,
        }
    };
    match pin.keep {
        Some(keep) if count == 0 => Err(Error::NoSubtree { file: pin.file.to_owned(), keep: keep.to_owned() }),
        _ => Ok(count),
    }
}

/// Whether an earlier run got as far as the whole file, and it is the pinned one.
fn arrived_earlier(pin: &WheelPin, file: &Path) -> Result<bool, StoreError> {
    let whole = fs_err::metadata(file).is_ok_and(|meta| meta.len() == pin.size);
    Ok(whole && digest::of_file(file)? == pin.sha256)
}

fn verify(pin: &WheelPin, file: &Path, origin: String) -> Result<(), Error> {
    let found = digest::of_file(file)?;
    if found == pin.sha256 {
        return Ok(());
    }
    fs_err::remove_file(file).map_err(|e| StoreError::io("cannot delete a file that is not the pinned one", e))?;
    Err(Error::Checksum { file: pin.file.to_owned(), origin, expected: pin.sha256.to_owned(), found })
}

/// The directories of the download; `tmp` and `tree` are emptied, the rest is kept from an earlier run.
fn workplace(downloads: &Path) -> Result<Workplace, StoreError> {
    let place = Workplace {
        wheels: downloads.join("wheels"),
        cache: downloads.join("uv-cache"),
        tree: downloads.join("tree"),
        tmp: downloads.join("tmp"),
    };
    empty(&place.tmp)?;
    empty(&place.tree)?;
    for dir in [&place.wheels, &place.cache] {
        fs_err::create_dir_all(dir).map_err(|e| StoreError::write("cannot write to the store", dir, e))?;
    }
    Ok(place)
}

fn empty(dir: &Path) -> Result<(), StoreError> {
    if dir.symlink_metadata().is_ok() {
        fs_err::remove_dir_all(dir)
            .map_err(|e| StoreError::io("cannot empty a directory of an earlier download", e))?;
    }
    fs_err::create_dir_all(dir).map_err(|e| StoreError::write("cannot write to the store", dir, e))
}

/// The name in the entry of a file in the wheel; `None` if it is not kept.
fn kept_name(keep: Option<&str>, name: &str) -> Option<String> {
    match keep {
        Some(subtree) => {
            name.strip_prefix(subtree)?.strip_prefix('/').filter(|rest| !rest.is_empty()).map(str::to_owned)
        }
        None => (!is_installers(name.split('/').next().unwrap_or(name))).then(|| name.to_owned()),
    }
}

/// Top-level directories that an installer rewrites or makes itself, so that they differ between clients.
fn is_installers(top: &str) -> bool {
    top.ends_with(".dist-info") || top.ends_with(".data") || top == "bin" || top == ".lock"
}

/// Moves the wanted part of a tree that the client has unpacked.
fn take_over(pin: &WheelPin, tree: &Path, target: &Path) -> Result<usize, StoreError> {
    let failed = |source| StoreError::write("cannot move what was fetched into the store", target, source);
    match pin.keep {
        Some(keep) if !tree.join(keep).is_dir() => return Ok(0),
        // A directory may replace an empty one.
        Some(keep) => fs_err::rename(tree.join(keep), target).map_err(failed)?,
        None => {
            for item in fs_err::read_dir(tree).map_err(failed)? {
                let item = item.map_err(failed)?;
                let name = item.file_name();
                if !is_installers(&name.to_string_lossy()) {
                    fs_err::rename(item.path(), target.join(name)).map_err(failed)?;
                }
            }
        }
    }
    Ok(progress::files_under(target))
}

/// Has everything below a directory on the disk before it gets its name, so that a crash of the machine cannot leave a named
/// directory with empty files. One call for the whole file system: syncing 20 000 files one by one takes minutes.
///
/// # Errors
/// The disk is full or broken.
pub fn settle(dir: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::write("cannot write the fetched files to the disk", dir, source);
    let opened = fs_err::File::open(dir).map_err(failed)?;
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&opened).map_err(|errno| failed(errno.into()))?;
    opened.sync_all().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subtree_is_cut_at_a_directory() {
        assert_eq!(kept_name(Some("a/b"), "a/b/c/d.h").as_deref(), Some("c/d.h"));
        assert_eq!(kept_name(Some("a/b"), "a/bc/d.h"), None);
        assert_eq!(kept_name(Some("a/b"), "a/b/"), None);
        assert_eq!(kept_name(None, "a/b.py").as_deref(), Some("a/b.py"));
        assert_eq!(kept_name(None, "a-1.dist-info/RECORD"), None);
    }
}
