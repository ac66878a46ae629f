//! Watches a client at work. In a pipe neither client says how far it is, so the bytes on the disk are counted.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pto_context::{Context, Event};

/// How often to look.
const EVERY: Duration = Duration::from_millis(200);

/// Looking may take this part of the time at most: a tree of 20 000 files takes a while to count.
const SHARE: u32 = 10;

/// What to count, and how to tell it.
pub(crate) struct Watch {
    pub(crate) cx: Context,
    pub(crate) task: String,
    /// The directory that grows.
    pub(crate) dir: PathBuf,
    /// The bytes that will have been written there at the end.
    pub(crate) expected: u64,
    /// The bytes that the step is announced to have.
    pub(crate) total: u64,
}

/// Counts until dropped.
pub(crate) struct Watching {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts counting, in a thread of its own. Without a thread there is no progress, which is no reason to fail.
    pub(crate) fn start(self) -> Watching {
        let (stop, stopped) = channel::<()>();
        let work = move || {
            let mut last = 0;
            let mut pause = EVERY;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let start = Instant::now();
                let done_bytes = self.scaled(bytes_under(&self.dir));
                if done_bytes > last {
                    last = done_bytes;
                    self.cx.emit(Event::Progress { task: self.task.clone(), done_bytes });
                }
                pause = EVERY.max(start.elapsed() * SHARE);
            }
        };
        let thread = std::thread::Builder::new().name("pto-fetch-progress".into()).spawn(work).ok();
        Watching { stop: Some(stop), thread }
    }

    fn scaled(&self, written: u64) -> u64 {
        let share = written.min(self.expected) as f64 / self.expected.max(1) as f64;
        (share * self.total as f64) as u64
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked (in an event sink), the panic has been reported, and progress is not worth another one.
            let _ = thread.join();
        }
    }
}

/// How many files there are below a directory.
pub(crate) fn files_under(dir: &Path) -> usize {
    let Ok(listing) = std::fs::read_dir(dir) else { return 0 };
    let count = |item: std::fs::DirEntry| match item.file_type() {
        Ok(kind) if kind.is_dir() => files_under(&item.path()),
        _ => 1,
    };
    listing.flatten().map(count).sum()
}

/// The sizes of all files below a directory. What vanishes meanwhile does not count.
fn bytes_under(dir: &Path) -> u64 {
    let Ok(listing) = std::fs::read_dir(dir) else { return 0 };
    let size = |item: std::fs::DirEntry| match item.metadata() {
        Ok(meta) if meta.is_dir() => bytes_under(&item.path()),
        Ok(meta) if meta.is_file() => meta.len(),
        _ => 0,
    };
    listing.flatten().map(size).sum()
}
