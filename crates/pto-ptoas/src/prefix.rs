//! Where PTOAS is installed: a [`Slot`], in which one installation takes another one's place in a single step.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_context::places::pypto_home;
use pto_store::{Lock, Slot, Staging};

use crate::error::Error;
use crate::launcher::Launcher;

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
pub struct Prefix(Slot);

impl Prefix {
    /// The place: what was named, else `PTOAS_ROOT`, else `ptoas` in `PYPTO_HOME`, which is `/opt/pypto` if nothing is said.
    ///
    /// # Errors
    /// It has no name: `/`.
    pub fn of(cx: &Context, named: Option<&Path>) -> Result<Self, Error> {
        let home = || pypto_home(cx).join("ptoas");
        let from_variable = || cx.var_os("PTOAS_ROOT").map(PathBuf::from);
        let root = cx.cwd().join(named.map(Path::to_path_buf).or_else(from_variable).unwrap_or_else(home));
        let foreign = || Error::Foreign { root: root.clone(), found: "the root of the file system".to_owned() };
        Slot::new(&root).map(Self).ok_or_else(foreign)
    }

    /// The directory that users and scripts know.
    pub fn root(&self) -> &Path {
        self.0.root()
    }

    /// Refuses a root that holds somebody's files: it would be moved away and deleted.
    pub(crate) fn check_ours(&self) -> Result<(), Error> {
        let foreign = |found: String| Err(Error::Foreign { root: self.root().to_path_buf(), found });
        let meta = match self.root().symlink_metadata() {
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
        let listing = fs_err::read_dir(self.root()).map_err(|e| Error::io("cannot look at the installation", e))?;
        let names: Vec<String> =
            listing.flatten().map(|item| item.file_name().to_string_lossy().into_owned()).collect();
        if let Some(stranger) = names.iter().find(|name| !KNOWN.contains(&name.as_str())) {
            return foreign(format!("`{stranger}`"));
        }
        let is_one = self.root().join("pyvenv.cfg").exists() || Launcher::find(self.root()).is_some();
        if names.is_empty() || is_one { Ok(()) } else { foreign(format!("`{}`", names.join("`, `"))) }
    }

    /// Whether an installation could be put there, asked without writing.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable().map_err(Error::of_slot)
    }

    /// Keeps every other installer away until it is dropped.
    pub(crate) fn lock(&self, cx: &Context) -> Result<Lock, Error> {
        self.0.lock(cx, &format!("installation of `{}`", self.root().display())).map_err(Error::of_slot)
    }

    /// A new directory to install into; removed again unless it becomes current.
    pub(crate) fn stage(&self, version: &str) -> Result<Staging, Error> {
        self.0.stage(version).map_err(Error::of_slot)
    }

    /// Makes a finished directory the installation. Call with the lock held.
    pub(crate) fn switch_to(&self, cx: &Context, staging: Staging) -> Result<(), Error> {
        self.0.switch_to(cx, staging).map_err(Error::of_slot)
    }

    /// Deletes what earlier runs left and what has been replaced, except what a process still uses, which is returned.
    /// Call with the lock held.
    pub(crate) fn sweep(&self) -> Vec<PathBuf> {
        self.0.sweep()
    }
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

    #[test]
    fn the_place_follows_the_variables_in_order() {
        let root = |vars: &[(&str, &str)]| {
            Prefix::of(&Context::fake("/cwd", vars.iter().copied()), None).unwrap().root().to_path_buf()
        };
        assert_eq!(root(&[("A", "1")]), Path::new("/opt/pypto/ptoas"));
        assert_eq!(root(&[("PYPTO_HOME", "/h")]), Path::new("/h/ptoas"));
        assert_eq!(root(&[("PYPTO_HOME", "/h"), ("PTOAS_ROOT", "p/q")]), Path::new("/cwd/p/q"));
        assert!(Prefix::of(&cx(), Some(Path::new("/"))).is_err());
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

        fs_err::remove_file(prefix.root()).unwrap();
        fs_err::create_dir(prefix.root()).unwrap();
        prefix.check_ours().unwrap();
        fs_err::write(prefix.root().join("thesis.tex"), "").unwrap();
        assert!(prefix.check_ours().unwrap_err().to_string().contains("`thesis.tex`"));
    }

    #[test]
    fn what_a_process_uses_stays() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = prefix(dir.path());
        install(&prefix, "one");
        let used = prefix.0.current().unwrap();
        let program = used.join("program");
        fs_err::copy("/bin/sleep", &program).unwrap();
        let running = pto_process::Invocation::new(&program).arg("60").start(&cx()).unwrap();
        install(&prefix, "two");
        assert_eq!(prefix.sweep(), [used]);
        drop(running);
        assert_eq!(prefix.sweep(), Vec::<PathBuf>::new());
    }
}
