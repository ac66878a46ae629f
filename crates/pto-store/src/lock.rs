//! One builder per entry, over all processes of the machine.

use std::fs::TryLockError;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err::File;
use pto_context::{Context, Event};

use crate::error::{Error, stop_if_interrupted};

/// How often a waiter looks again. Not a blocking lock, because a wait must end at an interrupt.
const POLL: Duration = Duration::from_millis(30);

/// How long a wait may last before the user is told what it is for.
const QUIET: Duration = Duration::from_secs(1);

/// A held lock on a file. The kernel gives it back when the process ends, however it ends.
///
/// The file is removed when the lock is given back, so a directory that is left alone holds none.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock, waiting for whoever holds it. `what` is told to a user who has to wait for more than a moment.
    ///
    /// # Errors
    /// The file cannot be made or locked; [`Error::Interrupted`] while waiting.
    pub fn acquire(cx: &Context, path: &Path, what: &str) -> Result<Self, Error> {
        let start = Instant::now();
        let task = format!("wait:{what}");
        let mut told = false;
        loop {
            if let Some(mut lock) = Self::try_acquire(path)? {
                lock.sign();
                if told {
                    let message = format!("`{what}` is free after {:.0?}", start.elapsed());
                    cx.emit(Event::Finished { task, message });
                }
                return Ok(lock);
            }
            if !told && start.elapsed() > QUIET {
                told = true;
                let message = format!("Waiting for {} that is preparing `{what}`", holder(path));
                cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
            }
            stop_if_interrupted()?;
            std::thread::sleep(POLL);
        }
    }

    /// Takes the lock if nobody holds it; `None` if somebody does.
    ///
    /// # Errors
    /// The file cannot be made or locked.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, Error> {
        let failed = |source| Error::write("cannot open a lock file", path, source);
        let file = File::options().create(true).append(true).open(path).map_err(failed)?;
        match file.file().try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(Error::io("cannot lock a file of the store", source)),
        }
        // The last holder removes the file. Whoever opened it before that now holds a lock on a file that nobody else
        // will ever find: it counts only if the path still leads to it.
        let ours = file.metadata().map_err(failed)?;
        match std::fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {
                Ok(Some(Self { file, path: path.to_owned() }))
            }
            _ => Ok(None),
        }
    }

    /// Writes down who holds it. A waiter that cannot read it waits all the same.
    fn sign(&mut self) {
        let _ = self.file.set_len(0).and_then(|()| write!(self.file, "{}", std::process::id()));
    }

    /// Keeps the lock for as long as this process and whatever it becomes live: a program that takes our place goes on
    /// holding it. The file stays; whoever takes the lock next removes it.
    ///
    /// # Errors
    /// The system does not let the file be handed on; the lock is given back.
    pub fn keep_for_life(self) -> Result<(), Error> {
        let handed_on = rustix::io::fcntl_setfd(self.file.file(), rustix::io::FdFlags::empty());
        handed_on.map_err(|source| Error::io("cannot hand on a lock", source.into()))?;
        std::mem::forget(self);
        Ok(())
    }
}

/// Who holds the lock, for people.
fn holder(path: &Path) -> String {
    let pid = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u32>().ok());
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is held, so that nobody removes a file another one has locked. If it stays, that costs nothing.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.file().unlock();
    }
}
