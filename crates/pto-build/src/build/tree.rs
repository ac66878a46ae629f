//! The build directory: what is in it, and how it is made empty.

use std::path::{Path, PathBuf};

use pto_checkout::Checkout;
use pto_context::Context;

use super::artifacts::CACHE;
use super::hands::Hands;
use super::record::{self, Record};
use crate::error::Error;

/// How a build directory that was given up is called until it is deleted.
const DISCARDED: &str = "ptokit-discarded-";
/// Below the runtime's build directory, the checkout of PTO-ISA: no product of a build.
pub(crate) const PTO_ISA: &str = "pto-isa";
/// How the names of those begin that the user had changed before they were replaced.
pub(crate) const KEPT_PTO_ISA: &str = "pto-isa.previous";

/// Directories that CMake and the runtime's wheel are built in.
#[derive(Debug, Clone)]
pub(crate) struct BuildTree {
    /// Of the project's own extension.
    pub(crate) native: PathBuf,
    /// Of the runtime's.
    pub(crate) runtime: PathBuf,
    /// On the same disk, seen by no status of git's.
    aside: PathBuf,
}

impl BuildTree {
    pub(crate) fn of(checkout: &Checkout) -> Self {
        let root = checkout.root();
        let (native, runtime) = (root.join("build"), root.join("runtime/build"));
        Self { native, runtime, aside: checkout.dirs.git_dir.clone() }
    }

    /// A setting of CMake's cache.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        let cache = std::fs::read_to_string(self.native.join(CACHE)).ok()?;
        let value =
            |line: &str| line.strip_prefix(name)?.strip_prefix(':')?.split_once('=').map(|(_, value)| value.to_owned());
        cache.lines().find_map(value)
    }

    /// Whether there is anything of a build.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.native).map_or(true, |mut entries| entries.next().is_none())
    }

    /// Refuses a directory with things that no build has made: it would be deleted.
    pub(crate) fn check_ours(&self) -> Result<(), Error> {
        const MARKS: [&str; 6] = [CACHE, "CMakeFiles", ".cmake", "build.ninja", "Makefile", record::FILE];
        if self.is_empty() || MARKS.iter().any(|mark| self.native.join(mark).exists()) {
            return Ok(());
        }
        Err(Error::ForeignBuildDirectory { dir: self.native.clone() })
    }

    /// Makes both directories empty. The record goes first: whoever is killed from here on leaves a build that the next run
    /// discards. What a record says was built elsewhere, as into the sources, goes too.
    pub(crate) fn discard(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
        let record = Record::read(&self.native);
        hands.remove(cx, &Record::path(&self.native))?;
        let outside = record.iter().flat_map(|record| record.artifacts.files.keys()).filter(|path| path.is_absolute());
        outside.into_iter().try_for_each(|path| hands.remove(cx, path))?;
        for dir in self.runtime_products() {
            self.give_up(cx, hands, &dir)?;
        }
        if self.native.is_symlink() || !self.give_up(cx, hands, &self.native)? {
            // A link, or a disk of its own: only what is in it can go.
            children(&self.native).iter().try_for_each(|child| hands.remove(cx, child))?;
        }
        self.sweep(cx, hands)
    }

    /// What builds of the runtime have made.
    pub(crate) fn runtime_products(&self) -> Vec<PathBuf> {
        let is_product = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name != PTO_ISA && !name.as_encoded_bytes().starts_with(KEPT_PTO_ISA.as_bytes())
        };
        children(&self.runtime).into_iter().filter(is_product).collect()
    }

    /// Deletes what was given up, also by a run that was killed then.
    fn sweep(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
        let left = children(&self.aside);
        let name = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DISCARDED));
        left.into_iter().filter(name).try_for_each(|path| hands.remove(cx, &path))
    }

    /// Moves a directory away in one step, so that a compiler of a build that was killed, which still writes into it, does
    /// not write into what is built next. `false` if it cannot be moved.
    fn give_up(&self, cx: &Context, hands: &Hands, dir: &Path) -> Result<bool, Error> {
        if dir.symlink_metadata().is_err() {
            return Ok(true);
        }
        let nanos = std::time::UNIX_EPOCH.elapsed().map(|time| time.as_nanos()).unwrap_or_default();
        let moved = hands.rename(cx, dir, &self.aside.join(format!("{DISCARDED}{nanos}")));
        if !moved && dir != self.native {
            hands.remove(cx, dir)?;
        }
        Ok(moved)
    }
}

/// What is in a directory, in full.
fn children(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
