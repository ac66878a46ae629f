//! One build of a checkout at a time, and who has the turn.

use std::fs::TryLockError;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fs_err::File;
use pto_context::{Context, Event};

use crate::error::Error;
use crate::process::Process;

/// How often a waiter looks again. Not a blocking lock, because a wait must end at an interrupt.
const POLL: Duration = Duration::from_millis(50);
/// Of a command line, as many characters as tell which one it is.
const LONGEST_COMMAND: usize = 120;

/// The right to work on a directory, until it is dropped or the process ends, however it ends.
///
/// The directory itself is locked, and nothing is written: a lock file would be root's in a checkout of another owner, or
/// missing where two containers have the same checkout and homes of their own. Who holds it, the kernel knows.
#[derive(Debug)]
pub(crate) struct Turn {
    _dir: File,
}

impl Turn {
    /// Waits until nobody else works on the directory. `what` says what for: "build of `/workspace/pypto`".
    pub(crate) fn take(cx: &Context, dir: &Path, what: &str) -> Result<Self, Error> {
        let file = File::open(dir).map_err(Error::io("cannot open the directory that is to be built in"))?;
        let task = format!("wait:{}", dir.display());
        let mut told = false;
        loop {
            match file.file().try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => {
                    let action = "cannot lock the directory that is to be built in";
                    return Err(Error::io(action)(naming(dir, &source)));
                }
            }
            if !told {
                told = true;
                let message = format!("Waiting for the {what} by {}", holder(&file).unwrap_or(Holder::Hidden));
                cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
            }
            if pto_context::interrupt::requested() {
                return Err(Error::interrupted());
            }
            std::thread::sleep(POLL);
        }
        if told {
            cx.emit(Event::Finished { task, message: format!("The other {what} has ended") });
        }
        Ok(Self { _dir: file })
    }
}

fn naming(dir: &Path, source: &std::io::Error) -> std::io::Error {
    std::io::Error::new(source.kind(), format!("`{}`: {source}", dir.display()))
}

/// Who holds a lock.
enum Holder {
    Process {
        pid: u32,
        command: String,
        since: Option<SystemTime>,
    },
    /// A process of another container, or of a system that does not tell.
    Hidden,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hidden => f.write_str("another process"),
            Self::Process { pid, command, since } => {
                write!(f, "process {pid} (`{command}`)")?;
                since.map_or(Ok(()), |since| {
                    write!(f, ", which runs since {}", humantime::format_rfc3339_seconds(since))
                })
            }
        }
    }
}

/// Who holds the lock on a file, as the kernel tells.
fn holder(file: &File) -> Option<Holder> {
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let pid = holder_in(&locks, file.metadata().ok()?.ino())?;
    let process = Process::of(pid);
    let command = process.command()?.chars().take(LONGEST_COMMAND).collect();
    Some(Holder::Process { pid, command, since: started(&process) })
}

/// The process that holds a `flock` on the inode: `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`. The device is not
/// compared: file systems that lie over others show another one here than to `stat`.
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    let held = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = fields[..] else { return None };
        let is_it = place.rsplit(':').next()?.parse() == Ok(inode);
        pid.parse().ok().filter(|pid| is_it && *pid > 0)
    };
    locks.lines().find_map(held)
}

/// When a process began.
fn started(process: &Process) -> Option<SystemTime> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let age = uptime - process.start()? as f64 / rustix::param::clock_ticks_per_second() as f64;
    SystemTime::now().checked_sub(Duration::try_from_secs_f64(age).ok()?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pto_context::Recorder;

    use super::*;

    #[test]
    fn the_kernels_list_names_the_holder() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 12 00:2a:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 00:2a:77 0 EOF\n3: FLOCK  ADVISORY  WRITE 0 00:2a:78 0 EOF\n";
        assert_eq!(holder_in(locks, 77), Some(12));
        assert_eq!((holder_in(locks, 78), holder_in(locks, 1), holder_in("x", 77)), (None, None, None));
    }

    #[test]
    fn who_waits_is_told_for_whom() {
        let dir = tempfile::tempdir().unwrap();
        let events = Arc::new(Recorder::default());
        let none: [(&str, &str); 0] = [];
        let cx = Context::fake("/", none).with_events(events.clone());
        let first = Turn::take(&cx, dir.path(), "build of `x`").unwrap();
        assert_eq!(events.events(), []);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| Turn::take(&cx, dir.path(), "build of `x`"));
            while events.events().is_empty() {
                std::thread::sleep(POLL);
            }
            drop(first);
            second.join().unwrap().unwrap();
        });
        let told = events.events();
        let [Event::Started { message, .. }, Event::Finished { .. }] = &told[..] else { panic!("{told:?}") };
        let me = format!("Waiting for the build of `x` by process {} (`", std::process::id());
        assert!(message.starts_with(&me) && message.contains("which runs since 2"), "{message}");
    }
}
