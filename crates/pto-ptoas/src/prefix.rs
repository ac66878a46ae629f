//! Where PTOAS is installed, and how one installation takes another one's place in a single step.
//!
//! `<root>` is a link into `<parent>/.<name>.d`, where each installation has a directory of its own that never moves: a
//! virtual environment has its path written into its scripts. The link is replaced by a rename. A directory at `<root>`,
//! as other installers make it, is exchanged with the link in one system call. What the link does not lead to is rubbish.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use pto_store::Lock;
use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;

use crate::error::Error;
use crate::launcher::Launcher;

/// Where the images keep their own files.
pub(crate) const DEFAULT_HOME: &str = "/opt/pypto";

/// What an environment or an archive of PTOAS has at its top. A directory with anything else is somebody's own.
const KNOWN: [&str; 16] = [
    "bin",
    "lib",
    "lib64",
    "include",
    "share",
    "pyvenv.cfg",
    "CACHEDIR.TAG",
    ".gitignore",
    ".lock",
    "ptoas",
    "ptoas.sh",
    "mlir",
    "python",
    "LICENSE",
    "README.md",
    "ptokit-install.json",
];

/// An installation directory, `PTOAS_ROOT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    root: PathBuf,
    installs: PathBuf,
    lock: PathBuf,
}

impl Prefix {
    /// The place: what was named, else `PTOAS_ROOT`, else `ptoas` in `PYPTO_HOME`, which is `/opt/pypto` if nothing is said.
    ///
    /// # Errors
    /// It has no name: `/`.
    pub fn of(cx: &Context, named: Option<&Path>) -> Result<Self, Error> {
        let home = || cx.var_os("PYPTO_HOME").map_or_else(|| PathBuf::from(DEFAULT_HOME), PathBuf::from).join("ptoas");
        let from_variable = || cx.var_os("PTOAS_ROOT").map(PathBuf::from);
        let root = cx.cwd().join(named.map(Path::to_path_buf).or_else(from_variable).unwrap_or_else(home));
        let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
            return Err(Error::Foreign { root, found: "the root of the file system".to_owned() });
        };
        let beside = |suffix: &str| parent.join(format!(".{}{suffix}", name.to_string_lossy()));
        Ok(Self { installs: beside(".d"), lock: beside(".lock"), root })
    }

    /// The directory that users and scripts know.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn parent(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// The directory of the installation in use, if the root leads into ours.
    pub(crate) fn current(&self) -> Option<PathBuf> {
        let target = self.parent().join(fs_err::read_link(&self.root).ok()?);
        (target.parent() == Some(&self.installs)).then_some(target)
    }

    /// Refuses a root that holds somebody's files: it would be moved away and deleted.
    pub(crate) fn check_ours(&self) -> Result<(), Error> {
        let foreign = |found: String| Err(Error::Foreign { root: self.root.clone(), found });
        let meta = match self.root.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(Error::io("cannot look at the installation", source)),
        };
        // The target of a link is left alone.
        if meta.is_symlink() {
            return Ok(());
        }
        if !meta.is_dir() {
            return foreign("a file".to_owned());
        }
        let listing = fs_err::read_dir(&self.root).map_err(|e| Error::io("cannot look at the installation", e))?;
        let names: Vec<String> =
            listing.flatten().map(|item| item.file_name().to_string_lossy().into_owned()).collect();
        if let Some(stranger) = names.iter().find(|name| !KNOWN.contains(&name.as_str())) {
            return foreign(format!("`{stranger}`"));
        }
        let is_one = self.root.join("pyvenv.cfg").exists() || Launcher::find(&self.root).is_some();
        if names.is_empty() || is_one { Ok(()) } else { foreign(format!("`{}`", names.join("`, `"))) }
    }

    /// Whether an installation could be put there, asked without writing.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        let device = |path: &Path| path.symlink_metadata().ok().filter(|meta| meta.is_dir()).map(|meta| meta.dev());
        // A directory on another file system than its parent is where that file system begins.
        if device(&self.root).zip(device(self.parent())).is_some_and(|(root, parent)| root != parent) {
            return Err(Error::MountPoint { root: self.root.clone() });
        }
        let there = self.parent().ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/"));
        access(there, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|errno| Error::NotWritable { path: there.to_path_buf(), source: errno.into() })
    }

    /// Keeps every other installer away until it is dropped.
    pub(crate) fn lock(&self, cx: &Context) -> Result<Lock, Error> {
        let failed = |source| Error::write("cannot write beside the installation", self.parent(), source);
        fs_err::create_dir_all(self.parent()).map_err(failed)?;
        Lock::acquire(cx, &self.lock, &format!("installation of `{}`", self.root.display())).map_err(
            |error| match error {
                pto_store::Error::Io { source, .. } => failed(source),
                other => other.into(),
            },
        )
    }

    /// A new directory to install into; removed again unless it becomes current.
    pub(crate) fn stage(&self, version: &str) -> Result<Staging, Error> {
        let failed = |source| Error::write("cannot write beside the installation", self.parent(), source);
        fs_err::create_dir_all(&self.installs).map_err(failed)?;
        let dir = self.installs.join(format!("{version}-{}", unique()));
        fs_err::create_dir(&dir).map_err(failed)?;
        Ok(Staging { dir, installs: self.installs.clone(), keep: false })
    }

    /// Makes a finished directory the installation. Call with the lock held.
    pub(crate) fn switch_to(&self, cx: &Context, mut staging: Staging) -> Result<(), Error> {
        let failed = |source| Error::write("cannot make the new installation current", self.parent(), source);
        let link = self.installs.join(format!("link-{}", unique()));
        // Relative, so that the tree can be looked at from outside of a container.
        let (Some(installs), Some(name)) = (self.installs.file_name(), staging.dir.file_name()) else {
            return Err(failed(ErrorKind::InvalidInput.into()));
        };
        fs_err::os::unix::fs::symlink(Path::new(installs).join(name), &link).map_err(failed)?;
        let result = self.exchange(cx, &link);
        if result.is_err() {
            let _ = fs_err::remove_file(&link);
            return result;
        }
        staging.keep = true;
        sync_dir(self.parent());
        Ok(())
    }

    fn exchange(&self, cx: &Context, link: &Path) -> Result<(), Error> {
        let failed = |source| Error::write("cannot make the new installation current", self.parent(), source);
        let is_dir = self.root.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if !is_dir {
            return fs_err::rename(link, &self.root).map_err(failed);
        }
        match renameat_with(CWD, link, CWD, &self.root, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            Err(Errno::BUSY) => Err(Error::MountPoint { root: self.root.clone() }),
            // A directory of a lower layer of an overlay, as in a container of an image, or a file system without this call.
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS) => {
                let message = format!(
                    "this file system cannot exchange `{}`, a directory; it is deleted before the new installation takes its \
                     place, so for a moment there is none",
                    self.root.display()
                );
                cx.emit(Event::Warning { message });
                fs_err::remove_dir_all(&self.root).map_err(failed)?;
                fs_err::rename(link, &self.root).map_err(failed)
            }
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// Deletes what earlier runs left and what has been replaced, except what a process still uses, which is returned.
    /// Call with the lock held.
    pub(crate) fn sweep(&self) -> Vec<PathBuf> {
        let current = self.current();
        let listing = std::fs::read_dir(&self.installs).into_iter().flatten().flatten();
        let rubbish: Vec<PathBuf> =
            listing.map(|item| item.path()).filter(|path| Some(path) != current.as_ref()).collect();
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
        let _ = std::fs::remove_dir(&self.installs);
        used
    }
}

/// A directory that is being installed into.
#[derive(Debug)]
pub(crate) struct Staging {
    dir: PathBuf,
    installs: PathBuf,
    keep: bool,
}

impl Staging {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory that it lies in, which is there as long as it is.
    pub(crate) fn installs(&self) -> &Path {
        &self.installs
    }

    /// Deletes what was needed on the way.
    pub(crate) fn clear_scratch(&self) {
        discard(&self.scratch());
    }

    /// A directory beside it, on the same file system, for what is needed on the way.
    pub(crate) fn scratch(&self) -> PathBuf {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        self.installs.join(format!("scratch-{name}"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.clear_scratch();
        if !self.keep {
            discard(&self.dir);
            let _ = std::fs::remove_dir(&self.installs);
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
/// previous installation is found after the crash, which is what is promised.
fn sync_dir(dir: &Path) {
    if let Ok(opened) = fs_err::File::open(dir) {
        let _ = opened.sync_all();
    }
}

/// Whether a process that we may look at has a program or a library of a directory mapped: one that was started before
/// the installation was replaced, in the middle of somebody's work.
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

    fn prefix(dir: &Path) -> Prefix {
        Prefix::of(&Context::fake(dir, [("A", "1")]), Some(&dir.join("ptoas"))).unwrap()
    }

    fn cx() -> Context {
        Context::fake("/", [("A", "1")])
    }

    fn install(prefix: &Prefix, text: &str) {
        let staging = prefix.stage("1.0").unwrap();
        fs_err::write(staging.dir().join("pyvenv.cfg"), text).unwrap();
        prefix.switch_to(&cx(), staging).unwrap();
    }

    fn text(prefix: &Prefix) -> String {
        fs_err::read_to_string(prefix.root().join("pyvenv.cfg")).unwrap()
    }

    fn installs(prefix: &Prefix) -> usize {
        fs_err::read_dir(&prefix.installs).map(Iterator::count).unwrap_or(0)
    }

    #[test]
    fn the_place_follows_the_variables_in_order() {
        let root = |vars: &[(&str, &str)]| Prefix::of(&Context::fake("/cwd", vars.iter().copied()), None).unwrap().root;
        assert_eq!(root(&[("A", "1")]), Path::new("/opt/pypto/ptoas"));
        assert_eq!(root(&[("PYPTO_HOME", "/h")]), Path::new("/h/ptoas"));
        assert_eq!(root(&[("PYPTO_HOME", "/h"), ("PTOAS_ROOT", "p/q")]), Path::new("/cwd/p/q"));
        assert!(Prefix::of(&cx(), Some(Path::new("/"))).is_err());
    }

    #[test]
    fn one_installation_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = prefix(dir.path());
        install(&prefix, "one");
        install(&prefix, "two");
        assert_eq!((text(&prefix).as_str(), installs(&prefix)), ("two", 2));
        assert_eq!(prefix.sweep(), Vec::<PathBuf>::new());
        assert_eq!((text(&prefix).as_str(), installs(&prefix)), ("two", 1));
    }

    #[test]
    fn a_directory_is_exchanged_and_somebodys_own_refused() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = prefix(dir.path());
        fs_err::create_dir_all(prefix.root().join("bin")).unwrap();
        assert!(prefix.check_ours().unwrap_err().to_string().contains("`bin`"));
        fs_err::write(prefix.root().join("pyvenv.cfg"), "made elsewhere").unwrap();
        prefix.check_ours().unwrap();
        install(&prefix, "ours");
        assert_eq!(text(&prefix), "ours");
        assert!(prefix.root().is_symlink());
        prefix.sweep();
        assert_eq!(installs(&prefix), 1);

        fs_err::remove_file(prefix.root()).unwrap();
        fs_err::create_dir(prefix.root()).unwrap();
        prefix.check_ours().unwrap();
        fs_err::write(prefix.root().join("thesis.tex"), "").unwrap();
        assert!(prefix.check_ours().unwrap_err().to_string().contains("`thesis.tex`"));
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = prefix(dir.path());
        drop(prefix.stage("1.0").unwrap());
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_process_uses_stays() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = prefix(dir.path());
        install(&prefix, "one");
        let used = prefix.current().unwrap();
        let program = used.join("program");
        fs_err::copy("/bin/sleep", &program).unwrap();
        let running = pto_process::Invocation::new(&program).arg("60").start(&cx()).unwrap();
        install(&prefix, "two");
        assert_eq!(prefix.sweep(), [used]);
        drop(running);
        assert_eq!(prefix.sweep(), Vec::<PathBuf>::new());
    }
}
