//! The build directory: what is in it, and how it is made empty.

use std::path::{Path, PathBuf};

use pto_checkout::Checkout;
use pto_context::Context;

use super::artifacts::{self, CACHE};
use super::hands::Hands;
use super::ours::{self, MARK, children};
use super::plan::RUNTIME;
use super::record::Record;
use crate::error::{BuildError, Error};

/// How a build directory that was given up is called until it is deleted.
const DISCARDED: &str = "ptokit-discarded-";
/// Below the runtime's build directory, the checkout of PTO-ISA: no product of a build.
pub(crate) const PTO_ISA: &str = "pto-isa";
/// Which the runtime locks beside it while it looks for one.
const PTO_ISA_LOCK: &str = ".pto-isa.lock";
/// How the names of those begin that the user had changed before they were replaced.
pub(crate) const KEPT_PTO_ISA: &str = "pto-isa.previous";

/// Directories that CMake and the runtime's wheel are built in.
#[derive(Debug, Clone)]
pub(crate) struct BuildTree {
    /// The checkout.
    root: PathBuf,
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
        let (native, runtime) = (root.join("build"), root.join(RUNTIME).join("build"));
        Self { root: root.to_owned(), native, runtime, aside: checkout.dirs.git_dir.clone() }
    }

    /// A setting of CMake's cache.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        ours::setting(&self.native.join(CACHE), name)
    }

    /// Whether there is anything of a build.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.native).map_or(true, |mut entries| entries.next().is_none())
    }

    /// Refuses a directory with things that no build has made: it would be deleted.
    pub(crate) fn check_ours(&self) -> Result<(), Error> {
        if !self.is_empty() && !ours::is_native(&self.native, &self.root) {
            return Err(BuildError::ForeignBuildDirectory { dir: self.native.clone() }.into());
        }
        if !self.products(&self.runtime).is_empty() && !ours::is_runtimes(&self.runtime, &self.root.join(RUNTIME)) {
            return Err(BuildError::ForeignBuildDirectory { dir: self.runtime.clone() }.into());
        }
        Ok(())
    }

    /// Says in both directories whose they are, before anything else is in them or goes from them: whoever is killed from
    /// here on leaves what the next run knows. Call after [`check_ours`](Self::check_ours).
    pub(crate) fn claim(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
        [&self.native, &self.runtime].into_iter().try_for_each(|dir| hands.make_dir(cx, &dir.join(MARK)))
    }

    /// Makes both directories empty. The record goes first: whoever is killed from here on leaves a build that the next run
    /// discards. What was built into the sources goes too, if it is still what the record says.
    pub(crate) fn discard(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
        let record = Record::read(&self.native);
        hands.remove(cx, &Record::path(&self.native))?;
        let outside = record.iter().flat_map(|record| self.beside_the_sources(record));
        outside.into_iter().try_for_each(|path| hands.remove(cx, &path))?;
        self.give_up_runtime(cx, hands)?;
        if self.native.is_symlink() || !self.give_up(cx, hands, &self.native)? {
            // A link, or a disk of its own: only what is in it can go.
            let children = children(&self.native).into_iter().filter(|path| !is_mark(path));
            children.into_iter().try_for_each(|child| hands.remove(cx, &child))?;
        }
        self.sweep(cx, hands)
    }

    /// Products beside the sources of this checkout. A record is a file like any other: it may have come with a copy of the
    /// directory and tell of the original's products, or of anything at all.
    fn beside_the_sources(&self, record: &Record) -> Vec<PathBuf> {
        let is_ours = |path: &PathBuf, digest: &String| {
            let real =
                path.symlink_metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| path.canonicalize().ok());
            real.is_some_and(|real| real.starts_with(&self.root)) && artifacts::digest(path).as_ref() == Some(digest)
        };
        let products =
            record.artifacts.native.files.iter().filter(|(path, digest)| path.is_absolute() && is_ours(path, digest));
        products.map(|(path, _)| path.clone()).collect()
    }

    /// What builds have made in one of the directories.
    pub(crate) fn products(&self, build: &Path) -> Vec<PathBuf> {
        let is_product = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            ![PTO_ISA, PTO_ISA_LOCK].iter().any(|own| name == *own)
                && !name.as_encoded_bytes().starts_with(KEPT_PTO_ISA.as_bytes())
        };
        let all = children(build).into_iter();
        if build == self.runtime { all.filter(is_product).collect() } else { all.collect() }
    }

    /// Moves what builds of the runtime have made out of the way of the next one.
    pub(crate) fn give_up_runtime(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
        let products = self.products(&self.runtime).into_iter().filter(|path| !is_mark(path));
        products.into_iter().try_for_each(|path| self.give_up(cx, hands, &path).map(drop))
    }

    /// Deletes what was given up, also by a run that was killed then.
    pub(crate) fn sweep(&self, cx: &Context, hands: &Hands) -> Result<(), Error> {
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

fn is_mark(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MARK)
}
