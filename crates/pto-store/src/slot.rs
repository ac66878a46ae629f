//! A directory that users know by one path, and how its next content takes the place of the one before in a single step.
//!
//! `<root>` is a link into `<parent>/.<name>.d`, where each content has a directory of its own that never moves: a virtual
//! environment has its path written into its scripts. The link is replaced by a rename. A directory at `<root>`, as others
//! make it, is exchanged with the link in one system call. What the link does not lead to is rubbish.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;

use crate::error::Error;
use crate::lock::Lock;

const SWITCH: &str = "cannot make the new content current";
const BESIDE: &str = "cannot write beside the directory";

/// A directory whose whole content is replaced at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    root: PathBuf,
    contents: PathBuf,
    lock: PathBuf,
    previous: PathBuf,
}

impl Slot {
    /// The slot at an absolute path; `None` if that has no name: `/`.
    pub fn new(root: impl Into<PathBuf>) -> Option<Self> {
        let root = root.into();
        let (parent, name) = (root.parent()?, root.file_name()?);
        let beside = |suffix: &str| parent.join(format!(".{}{suffix}", name.to_string_lossy()));
        let previous = parent.join(format!("{}.previous", name.to_string_lossy()));
        Some(Self { contents: beside(".d"), lock: beside(".lock"), previous, root })
    }

    /// The path that users and scripts know.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn parent(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// The directory of the content in use, if the root leads into ours.
    pub fn current(&self) -> Option<PathBuf> {
        self.target(&self.root)
    }

    /// Where the content is found that [`switch_keeping`](Self::switch_keeping) replaced last.
    pub fn previous(&self) -> &Path {
        &self.previous
    }

    fn target(&self, link: &Path) -> Option<PathBuf> {
        let target = self.parent().join(fs_err::read_link(link).ok()?);
        (target.parent() == Some(&self.contents)).then_some(target)
    }

    /// Whether content could be put there, asked without writing.
    ///
    /// # Errors
    /// [`Error::MountPoint`], [`Error::NotWritable`].
    pub fn check_writable(&self) -> Result<(), Error> {
        let device = |path: &Path| path.symlink_metadata().ok().filter(|meta| meta.is_dir()).map(|meta| meta.dev());
        // A directory on another file system than its parent is where that file system begins.
        if device(&self.root).zip(device(self.parent())).is_some_and(|(root, parent)| root != parent) {
            return Err(Error::MountPoint { path: self.root.clone() });
        }
        let there = self.parent().ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/"));
        access(there, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|errno| Error::NotWritable { path: there.to_path_buf(), source: errno.into() })
    }

    /// Keeps everybody else who replaces the content away until it is dropped. `what` is told to a user who has to wait.
    ///
    /// # Errors
    /// The lock's file cannot be made; [`Error::Interrupted`] while waiting.
    pub fn lock(&self, cx: &Context, what: &str) -> Result<Lock, Error> {
        fs_err::create_dir_all(self.parent()).map_err(|source| Error::place(BESIDE, self.parent(), source))?;
        Lock::acquire(cx, &self.lock, what).map_err(|error| match error {
            Error::Io { source, .. } => Error::place(BESIDE, self.parent(), source),
            other => other,
        })
    }

    /// A new directory to fill, whose name begins with `label`; removed again unless it becomes current.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn stage(&self, label: &str) -> Result<Staging, Error> {
        let failed = |source| Error::place(BESIDE, self.parent(), source);
        fs_err::create_dir_all(&self.contents).map_err(failed)?;
        let dir = self.contents.join(format!("{label}-{}", unique()));
        fs_err::create_dir(&dir).map_err(failed)?;
        Ok(Staging { dir, contents: self.contents.clone(), keep: false })
    }

    /// Makes a finished directory the content. Call with the lock held.
    ///
    /// # Errors
    /// The content is the one before.
    pub fn switch_to(&self, cx: &Context, staging: Staging) -> Result<(), Error> {
        self.switch(cx, staging, false)
    }

    /// The same, and what it replaces is kept under a name of its own until it is done again: somebody can have put
    /// files into it.
    ///
    /// # Errors
    /// The content is the one before; or something that is no link of ours has the name of the previous one.
    pub fn switch_keeping(&self, cx: &Context, staging: Staging) -> Result<(), Error> {
        self.switch(cx, staging, true)
    }

    /// Names the content that is about to be replaced; `link` is where it will be if it is a directory at the root.
    fn keep(&self, link: &Path) -> std::io::Result<()> {
        let is_dir = self.root.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let kept = if is_dir { Some(link.to_path_buf()) } else { self.current() };
        let Some(kept) = kept else { return Ok(()) };
        if self.previous.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let draft = self.contents.join(format!("previous-{}", unique()));
        fs_err::os::unix::fs::symlink(kept.strip_prefix(self.parent()).unwrap_or(&kept), &draft)?;
        fs_err::rename(&draft, &self.previous)
    }

    fn switch(&self, cx: &Context, staging: Staging, keep: bool) -> Result<(), Error> {
        let exchange = |link: &Path, root: &Path| renameat_with(CWD, link, CWD, root, RenameFlags::EXCHANGE);
        self.switch_by(exchange, cx, staging, keep)
    }

    /// The same with what exchanges two names in one step.
    fn switch_by(&self, exchange: Exchange, cx: &Context, mut staging: Staging, keep: bool) -> Result<(), Error> {
        let failed = |source| Error::place(SWITCH, self.parent(), source);
        let link = self.contents.join(format!("link-{}", unique()));
        // Relative, so that the tree can be looked at from outside of a container.
        let (Some(contents), Some(name)) = (self.contents.file_name(), staging.dir.file_name()) else {
            return Err(failed(ErrorKind::InvalidInput.into()));
        };
        fs_err::os::unix::fs::symlink(Path::new(contents).join(name), &link).map_err(failed)?;
        let kept = if keep { self.keep(&link).map_err(failed) } else { Ok(()) };
        let result = kept.and_then(|()| self.put(exchange, cx, &link));
        if result.is_err() {
            let _ = fs_err::remove_file(&link);
            return result;
        }
        staging.keep = true;
        if self.previous.is_symlink() && !self.previous.exists() {
            // What it was to lead to could not be kept.
            let _ = fs_err::remove_file(&self.previous);
        }
        sync_dir(self.parent());
        Ok(())
    }

    /// Lets the link take the place of what is at the root, which is found where the link was if it is a directory.
    fn put(&self, exchange: Exchange, cx: &Context, link: &Path) -> Result<(), Error> {
        let failed = |source| Error::place(SWITCH, self.parent(), source);
        let is_dir = self.root.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if !is_dir {
            return fs_err::rename(link, &self.root).map_err(failed);
        }
        match exchange(link, &self.root) {
            Ok(()) => Ok(()),
            Err(Errno::BUSY) => Err(Error::MountPoint { path: self.root.clone() }),
            // A file system without this call, or a directory of a lower layer of an overlay, as in a container of an image.
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS) if self.put_in_two_steps(link) => Ok(()),
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS) => {
                let message = format!(
                    "this file system cannot exchange `{}`, a directory; it is deleted before the new content takes its place, \
                     so for a moment there is none",
                    self.root.display()
                );
                cx.emit(Event::Warning { message });
                fs_err::remove_dir_all(&self.root).map_err(failed)?;
                fs_err::rename(link, &self.root).map_err(failed)
            }
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// The same without an exchange: for a moment there is nothing at the root. `false`, and all is as it was, where the
    /// directory cannot be renamed either.
    fn put_in_two_steps(&self, link: &Path) -> bool {
        let aside = self.contents.join(format!("aside-{}", unique()));
        if std::fs::rename(link, &aside).is_err() {
            return false;
        }
        let is_out = std::fs::rename(&self.root, link).is_ok();
        if is_out && std::fs::rename(&aside, &self.root).is_ok() {
            return true;
        }
        if is_out {
            let _ = std::fs::rename(link, &self.root);
        }
        let _ = std::fs::rename(&aside, link);
        false
    }

    /// Deletes what earlier runs left and what has been replaced, except what a process still uses, which is returned.
    /// Call with the lock held.
    pub fn sweep(&self) -> Vec<PathBuf> {
        let kept = [self.current(), self.target(&self.previous)];
        let listing = std::fs::read_dir(&self.contents).into_iter().flatten().flatten();
        let rubbish: Vec<PathBuf> =
            listing.map(|item| item.path()).filter(|path| !kept.iter().flatten().any(|kept| kept == path)).collect();
        let mut used = Vec::new();
        for path in rubbish {
            if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                if is_in_use(&path) {
                    used.push(path);
                } else {
                    discard(&path);
                }
            } else {
                let _ = std::fs::remove_file(&path);
            }
        }
        // Succeeds only when nothing is in it.
        let _ = std::fs::remove_dir(&self.contents);
        used
    }
}

/// Exchanges two names in one step.
type Exchange = fn(&Path, &Path) -> rustix::io::Result<()>;

/// A directory that is being filled.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    contents: PathBuf,
    keep: bool,
}

impl Staging {
    /// It.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory that it lies in, which is there as long as it is.
    pub fn contents(&self) -> &Path {
        &self.contents
    }

    /// Deletes what was needed on the way.
    pub fn clear_scratch(&self) {
        discard(&self.scratch());
    }

    /// A directory beside it, on the same file system, for what is needed on the way.
    pub fn scratch(&self) -> PathBuf {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        self.contents.join(format!("scratch-{name}"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.clear_scratch();
        if !self.keep {
            discard(&self.dir);
            let _ = std::fs::remove_dir(&self.contents);
        }
    }
}

/// Different for every call on this machine.
fn unique() -> String {
    let nanos = std::time::UNIX_EPOCH.elapsed().map(|time| time.as_nanos()).unwrap_or_default();
    format!("{nanos}-{}", std::process::id())
}

/// Deletes a directory nobody needs. What cannot be deleted now is rubbish for the next run.
fn discard(dir: &Path) {
    let _ = std::fs::remove_dir_all(dir);
}

/// The rename itself survives a crash of the machine once its directory is on the disk. If it does not get there, the
/// previous content is found after the crash, which is what is promised.
fn sync_dir(dir: &Path) {
    if let Ok(opened) = fs_err::File::open(dir) {
        let _ = opened.sync_all();
    }
}

/// Whether a process that we may look at has a program or a library of a directory mapped: one that was started before
/// the content was replaced, in the middle of somebody's work.
fn is_in_use(dir: &Path) -> bool {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let prefix = format!("{}/", dir.display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter(|process| process.file_name().to_string_lossy().starts_with(|c: char| c.is_ascii_digit())).any(
        |process| {
            let maps = std::fs::read(process.path().join("maps")).unwrap_or_default();
            String::from_utf8_lossy(&maps).contains(&prefix)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(dir: &Path) -> Slot {
        Slot::new(dir.join("venv")).unwrap()
    }

    fn cx() -> Context {
        Context::fake("/", [("A", "1")])
    }

    fn fill(slot: &Slot, text: &str) {
        let staging = slot.stage("1.0").unwrap();
        fs_err::write(staging.dir().join("file"), text).unwrap();
        slot.switch_to(&cx(), staging).unwrap();
    }

    fn text(slot: &Slot) -> String {
        fs_err::read_to_string(slot.root().join("file")).unwrap()
    }

    fn contents(slot: &Slot) -> usize {
        fs_err::read_dir(&slot.contents).map(Iterator::count).unwrap_or(0)
    }

    #[test]
    fn one_content_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let slot = slot(dir.path());
        fill(&slot, "one");
        fill(&slot, "two");
        assert_eq!((text(&slot).as_str(), contents(&slot)), ("two", 2));
        assert_eq!(slot.sweep(), Vec::<PathBuf>::new());
        assert_eq!((text(&slot).as_str(), contents(&slot)), ("two", 1));
    }

    #[test]
    fn a_directory_is_exchanged() {
        let dir = tempfile::tempdir().unwrap();
        let slot = slot(dir.path());
        fs_err::create_dir_all(slot.root()).unwrap();
        fs_err::write(slot.root().join("file"), "made elsewhere").unwrap();
        fill(&slot, "ours");
        assert_eq!(text(&slot), "ours");
        assert!(slot.root().is_symlink());
        slot.sweep();
        assert_eq!(contents(&slot), 1);
    }

    #[test]
    fn without_an_exchange_a_directory_is_kept_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let slot = slot(dir.path());
        fs_err::create_dir_all(slot.root()).unwrap();
        fs_err::write(slot.root().join("file"), "made elsewhere").unwrap();
        let staging = slot.stage("1.0").unwrap();
        fs_err::write(staging.dir().join("file"), "ours").unwrap();
        slot.switch_by(|_, _| Err(Errno::INVAL), &cx(), staging, true).unwrap();
        slot.sweep();
        assert_eq!((text(&slot).as_str(), contents(&slot)), ("ours", 2));
        assert_eq!(fs_err::read_to_string(slot.previous().join("file")).unwrap(), "made elsewhere");
    }

    #[test]
    fn what_is_replaced_is_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let slot = slot(dir.path());
        let fill = |text: &str| {
            let staging = slot.stage("1.0").unwrap();
            fs_err::write(staging.dir().join("file"), text).unwrap();
            slot.switch_keeping(&cx(), staging).unwrap();
            slot.sweep();
        };
        let previous = || fs_err::read_to_string(slot.previous().join("file")).unwrap();
        fs_err::create_dir_all(slot.root()).unwrap();
        fs_err::write(slot.root().join("file"), "made elsewhere").unwrap();
        fill("one");
        assert_eq!((text(&slot).as_str(), previous().as_str()), ("one", "made elsewhere"));
        fill("two");
        assert_eq!((text(&slot).as_str(), previous().as_str(), contents(&slot)), ("two", "one", 2));
        // What somebody else has put under that name is not replaced.
        fs_err::remove_file(slot.previous()).unwrap();
        fs_err::write(slot.previous(), "mine").unwrap();
        assert!(slot.switch_keeping(&cx(), slot.stage("1.0").unwrap()).is_err());
        assert_eq!((text(&slot).as_str(), fs_err::read_to_string(slot.previous()).unwrap().as_str()), ("two", "mine"));
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(slot(dir.path()).stage("1.0").unwrap());
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(Slot::new("/"), None);
    }
}
