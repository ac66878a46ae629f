//! What is in a store, whether it is still whole, and what nobody needs any more.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pto_context::Context;

use crate::entry::{BUILDING, LOCK, TRASH};
use crate::error::{Error, stop_if_interrupted};
use crate::lock::Lock;
use crate::store::Store;
use crate::sums;

/// Downloads that nobody has gone on with for so long belong to no process that lives.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The directory of downloads under way, and any other hidden one.
const HIDDEN: char = '.';

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its kind, for example `wheels`.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// Its directory.
    pub path: PathBuf,
    /// The sizes of its files, added up.
    pub bytes: u64,
    /// When it was built.
    pub built: SystemTime,
    /// Whether its sums were recorded, so that it can be verified.
    pub recorded: bool,
}

/// What verifying an entry came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Every file is what it was.
    Intact,
    /// It was built before sums were recorded.
    NotRecorded,
    /// These files are gone, changed, or were not there.
    Damaged(Vec<PathBuf>),
}

/// Something that was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// What.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// Why.
    pub why: &'static str,
}

/// What to remove beside the leftovers of processes that died.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GcOptions {
    /// Entries that were built longer ago than this.
    pub older_than: Option<Duration>,
    /// Only say what would be removed.
    pub dry_run: bool,
}

impl Store {
    /// Every entry, by kind and key.
    ///
    /// # Errors
    /// The store cannot be read. One that does not exist is empty.
    pub fn items(&self) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        for (kind, dir) in directories(self.root())? {
            for (key, path) in directories(&dir)? {
                let built = path.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                let recorded = sums_path(&dir, &key).is_file();
                items.push(Item { bytes: bytes_under(&path), kind: kind.clone(), key, path, built, recorded });
            }
        }
        Ok(items)
    }

    /// Sums up every file of an entry and compares with what was recorded when it was built.
    ///
    /// # Errors
    /// A file cannot be read, or the user asked for the end.
    pub fn verify(&self, item: &Item) -> Result<Finding, Error> {
        let Some(dir) = item.path.parent() else { return Ok(Finding::NotRecorded) };
        let Ok(text) = fs_err::read_to_string(sums_path(dir, &item.key)) else { return Ok(Finding::NotRecorded) };
        let (recorded, found) = (sums::parse(&text), sums::of_dir(&item.path)?);
        let mut damaged: Vec<PathBuf> =
            recorded.keys().filter(|path| found.get(*path) != recorded.get(*path)).cloned().collect();
        damaged.extend(found.keys().filter(|path| !recorded.contains_key(*path)).cloned());
        Ok(if damaged.is_empty() { Finding::Intact } else { Finding::Damaged(damaged) })
    }

    /// Removes what processes that died have left, and what the options say. What a process is at work on stays. Entries
    /// whose sums are not recorded stay too: they may be somebody's own directories.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn gc(&self, cx: &Context, options: &GcOptions) -> Result<Vec<Removed>, Error> {
        let mut removed = self.leftovers(options)?;
        let Some(limit) = options.older_than else { return Ok(removed) };
        for item in self.items()?.into_iter().filter(|item| item.recorded) {
            stop_if_interrupted()?;
            // A clock that was set back is no reason to remove anything.
            if item.built.elapsed().unwrap_or_default() < limit {
                continue;
            }
            if !options.dry_run {
                self.entry(&item.kind, &item.key)?.remove(cx)?;
            }
            removed.push(Removed { path: item.path, bytes: item.bytes, why: "old" });
        }
        Ok(removed)
    }

    fn leftovers(&self, options: &GcOptions) -> Result<Vec<Removed>, Error> {
        let mut removed = Vec::new();
        let mut remove = |path: PathBuf, why: &'static str| {
            let bytes = bytes_under(&path);
            if !options.dry_run {
                let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            }
            removed.push(Removed { path, bytes, why });
        };
        for (_, dir) in directories(self.root())? {
            for (name, path) in names(&dir)? {
                if name.starts_with(TRASH) {
                    remove(path, "removed before, by a process that died");
                } else if let Some(key) = name.strip_prefix(BUILDING)
                    && let Some(_lock) = Lock::try_acquire(&dir.join(format!("{LOCK}{key}")))?
                {
                    remove(path, "half built, by a process that died");
                } else if let Some(key) = name.strip_suffix(sums::SUFFIX)
                    && !dir.join(key).exists()
                    && let Some(_lock) = Lock::try_acquire(&dir.join(format!("{LOCK}{key}")))?
                {
                    remove(path, "the sums of an entry that is gone");
                }
            }
        }
        for (_, path) in names(&self.root().join(".downloads"))? {
            let changed = path.metadata().and_then(|meta| meta.modified()).unwrap_or_else(|_| SystemTime::now());
            if changed.elapsed().unwrap_or_default() > ABANDONED {
                remove(path, "a download that nobody went on with");
            }
        }
        Ok(removed)
    }
}

/// Where the sums of an entry are.
pub(crate) fn sums_path(kind: &Path, key: &str) -> PathBuf {
    kind.join(format!("{key}{}", sums::SUFFIX))
}

/// The names in a directory, sorted, with their paths; nothing if it is not there.
fn names(dir: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let listing = match fs_err::read_dir(dir) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("cannot read the store", source)),
    };
    let mut names: Vec<_> =
        listing.flatten().filter_map(|item| Some((item.file_name().into_string().ok()?, item.path()))).collect();
    names.sort();
    Ok(names)
}

/// The directories in a directory that are not the store's own.
fn directories(dir: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut names = names(dir)?;
    names.retain(|(name, path)| !name.starts_with(HIDDEN) && path.is_dir());
    Ok(names)
}

fn bytes_under(path: &Path) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let listing = std::fs::read_dir(path).into_iter().flatten().flatten();
    listing.map(|item| bytes_under(&item.path())).sum()
}
