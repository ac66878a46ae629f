//! A directory for credentials, removed however the process ends.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_store::Lock;
use tempfile::TempDir;

use crate::error::Error;

/// What the name of the place begins with where a user's private directories are.
pub(crate) const PRIVATE: &str = "ptokit-docker-";
/// What a private directory's name begins with.
const PREFIX: &str = "config.";
/// The permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A directory that only its owner can enter. It is removed when the value is dropped, also by an interrupt. The directory of a
/// process that was killed is removed by the next process.
#[derive(Debug)]
pub struct PrivateDirectory {
    dir: TempDir,
    /// Shows others that the process lives: the kernel releases it however the process ends.
    _alive: Lock,
}

impl PrivateDirectory {
    /// A new directory. Removes those of dead processes first.
    ///
    /// # Errors
    /// It cannot be made, or others could look into the place where it would be.
    pub fn new(cx: &Context) -> Result<Self, Error> {
        let home = private_home(cx)?;
        let _lock = lock_home(cx, &home)?;
        remove_left_over(&home);
        let failed = |source| Error::Private { path: home.clone(), source };
        let mut draft = tempfile::Builder::new();
        let dir = draft.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(&home).map_err(failed)?;
        let held = Lock::try_acquire(&lock_of(dir.path())).map_err(Error::Lock)?;
        // Cannot happen: nobody else knows the name yet, and a process that removes directories waits for the lock of all.
        let alive = held.ok_or_else(|| failed(std::io::ErrorKind::AlreadyExists.into()))?;
        Ok(Self { dir, _alive: alive })
    }

    /// Removes the directories of killed processes, and returns their number. Those of living processes stay.
    ///
    /// # Errors
    /// The place cannot be made or locked, or others can look into it.
    pub fn remove_left_over(cx: &Context) -> Result<usize, Error> {
        let home = private_home(cx)?;
        let _lock = lock_home(cx, &home)?;
        Ok(remove_left_over(&home))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// The place for all private directories of a user.
///
/// # Errors
/// It cannot be made, or others can look into it.
pub fn private_home(cx: &Context) -> Result<PathBuf, Error> {
    let uid = rustix::process::geteuid().as_raw();
    let path = cx.temp_dir().join(format!("{PRIVATE}{uid}"));
    let failed = |source| Error::Private { path: path.clone(), source };
    match std::fs::DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    // In `/tmp` anyone may have made it before us, as a link to anywhere.
    let found = std::fs::symlink_metadata(&path).map_err(failed)?;
    let why = match () {
        () if !found.is_dir() => "is not a directory",
        () if found.uid() != uid => "belongs to somebody else",
        () if found.mode() & OTHERS != 0 => "can be entered by others",
        () => return Ok(path),
    };
    Err(Error::NotPrivate { path, why })
}

/// The lock of all private directories: one must not be removed before its own lock is taken.
fn lock_home(cx: &Context, home: &Path) -> Result<Lock, Error> {
    Lock::acquire(cx, &home.join("lock"), "Docker configuration").map_err(Error::Lock)
}

/// The file that locks a directory. It is beside the directory, since it must not be removed with it.
fn lock_of(dir: &Path) -> PathBuf {
    dir.with_added_extension("alive")
}

/// Removes the directories of processes that no longer live. One that cannot be removed is left to the next process.
fn remove_left_over(home: &Path) -> usize {
    let entries = fs_err::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = entries.filter(|path| path.is_dir() && name(path).starts_with(PREFIX));
    let is_removed = |dir: &PathBuf| match Lock::try_acquire(&lock_of(dir)) {
        Ok(Some(_dead)) => fs_err::remove_dir_all(dir).is_ok(),
        _ => false,
    };
    ours.filter(is_removed).count()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cx(dir: &TempDir) -> Context {
        Context::fake("/", [("TMPDIR", dir.path())])
    }

    #[test]
    fn it_is_the_owners_alone_and_gone_afterwards() {
        let tmp = tempfile::tempdir().unwrap();
        let private = PrivateDirectory::new(&cx(&tmp)).unwrap();
        let path = private.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs_err::write(path.join("config.json"), "{}").unwrap();
        drop(private);
        assert!(!path.exists());
        assert_eq!(fs_err::read_dir(private_home(&cx(&tmp)).unwrap()).unwrap().count(), 0, "locks are gone as well");
    }

    #[test]
    fn what_the_dead_left_is_removed_and_the_living_keep_theirs() {
        let tmp = tempfile::tempdir().unwrap();
        let living = PrivateDirectory::new(&cx(&tmp)).unwrap();
        let dead = private_home(&cx(&tmp)).unwrap().join("config.dead");
        fs_err::create_dir(&dead).unwrap();
        fs_err::write(dead.join("config.json"), "secret").unwrap();
        let next = PrivateDirectory::new(&cx(&tmp)).unwrap();
        assert!(!dead.exists() && living.path().exists() && next.path().exists());
    }

    #[test]
    fn a_place_that_others_prepared_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let place = private_home(&cx(&tmp)).unwrap();
        fs_err::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
        assert!(PrivateDirectory::new(&cx(&tmp)).unwrap_err().to_string().contains("can be entered by others"));
        fs_err::remove_dir(&place).unwrap();
        fs_err::os::unix::fs::symlink(tmp.path(), &place).unwrap();
        assert!(PrivateDirectory::new(&cx(&tmp)).unwrap_err().to_string().contains("is not a directory"));
    }
}
