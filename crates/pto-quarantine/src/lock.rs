//! One user per device: a lock that every user of the machine can take, and that says who has it.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::quarantine::Quarantine;
use crate::record::{one_line, seconds};

/// Who has a device; as much as that process said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process. Of another container it is another container's number.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// The user's name, where it is known.
    pub user: Option<String>,
    /// What it does, in one line.
    pub command: String,
    /// Since when, in seconds since 1970 UTC.
    pub since: u64,
}

impl Holder {
    /// This process, from now on.
    pub fn this_process(user: Option<String>, command: &str, now: SystemTime) -> Self {
        Self {
            pid: std::process::id(),
            uid: rustix::process::geteuid().as_raw(),
            user,
            command: command.to_owned(),
            since: seconds(now),
        }
    }

    /// How long it has had the device, in seconds.
    pub fn seconds(&self, now: SystemTime) -> u64 {
        seconds(now).saturating_sub(self.since)
    }

    /// For people: who has a device, as far as that is known, and for how long.
    pub fn who_has_it(holder: Option<&Self>, now: SystemTime) -> String {
        holder.map_or_else(
            || "somebody uses it".to_owned(),
            |holder| format!("{holder} has had it for {} s", holder.seconds(now)),
        )
    }
}

/// `process 4711 of ada (\`cargo xtask kernel test\`)`
impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self.user.clone().unwrap_or_else(|| format!("user {}", self.uid));
        write!(f, "process {} of {user} (`{}`)", self.pid, self.command)
    }
}

/// What came of asking for a device.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Taken(DeviceLock),
    /// Somebody has it; who, if that can be read.
    Held(Option<Holder>),
}

/// A device that nobody else has, until this value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct DeviceLock {
    device: u32,
    file: File,
    is_ours_to_write: bool,
}

impl DeviceLock {
    /// The N of `/dev/davinciN`.
    pub fn device(&self) -> u32 {
        self.device
    }
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        // The file stays: removing it is what makes locks of this kind unsafe. Without a text it names nobody.
        if self.is_ours_to_write {
            let _ = self.file.set_len(0);
        }
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl Quarantine {
    /// Takes a device for this process, if nobody has it. Does not wait, and does not ask whether it is set aside.
    ///
    /// # Errors
    /// The lock's file cannot be made or opened.
    pub fn try_lock(&self, device: u32, holder: &Holder) -> Result<Attempt, Error> {
        let failed = |source| Error::Lock { device, source };
        self.make_ready().map_err(failed)?;
        if !self.is_directory() {
            return Err(Error::NotADirectory { dir: self.dir().to_owned() });
        }
        match try_flock(&self.dir().join(format!("davinci{device}.lock"))).map_err(failed)? {
            Flock::Taken(mut file) => {
                let is_ours_to_write = has_one_name(&file);
                if is_ours_to_write {
                    // A file that another user made unwritable still locks; it names nobody, or somebody who is gone.
                    let _ = name(&mut file, holder);
                }
                Ok(Attempt::Taken(DeviceLock { device, file, is_ours_to_write }))
            }
            Flock::Held(mut file) => Ok(Attempt::Held(read(&mut file))),
        }
    }
}

/// A lock that was tried: whose it is, and the file in either case.
pub(crate) enum Flock {
    Taken(File),
    Held(File),
}

/// Locks a file that every user of the machine can lock, and makes it if it is not there.
pub(crate) fn try_flock(path: &Path) -> std::io::Result<Flock> {
    loop {
        let file = open(path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if !leads_to(path, &file) => {} // it was deleted meanwhile, and another one is or will be there
            Ok(()) => return Ok(Flock::Taken(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Flock::Held(file)),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Opens what is there before it makes what is not: in a directory that everyone can write to, Linux may refuse to open
/// another user's file with `O_CREAT` (`fs.protected_regular`). No link is followed and no pipe waited for.
fn open(path: &Path) -> std::io::Result<File> {
    const ATTEMPTS: u32 = 100;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let there = |write: bool| File::options().read(true).write(write).custom_flags(flags).open(path);
    for _ in 0..ATTEMPTS {
        let file = match there(true) {
            // Another user's, or on a file system that takes no writing: it locks all the same.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                there(false)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => create(path, flags),
            result => result,
        };
        match file {
            Ok(file) if file.metadata()?.is_file() => return Ok(file),
            Ok(_) => return Err(std::io::Error::other(format!("`{}` is no regular file", path.display()))),
            // Somebody was faster, or has just deleted it.
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other(format!("`{}` comes and goes", path.display())))
}

fn create(path: &Path, flags: i32) -> std::io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).custom_flags(flags).open(path)?;
    // The mode given at creation would be cut by the umask. Everyone has to be able to say that it is theirs.
    file.set_permissions(std::fs::Permissions::from_mode(0o666))?;
    Ok(file)
}

fn leads_to(path: &Path, file: &File) -> bool {
    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (std::fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(ours)) => id(there) == id(ours),
        _ => false,
    }
}

/// Where anybody may make links to any file, the lock's name can lead to a file of ours that must not be written over.
fn has_one_name(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 1)
}

fn name(file: &mut File, holder: &Holder) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(holder)?)
}

/// Anybody may have written it.
fn read(file: &mut File) -> Option<Holder> {
    const LARGEST: u64 = 16 << 10;
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let holder: Holder = serde_json::from_slice(&bytes).ok()?;
    Some(Holder { command: one_line(&holder.command), user: holder.user.as_deref().map(one_line), ..holder })
}
