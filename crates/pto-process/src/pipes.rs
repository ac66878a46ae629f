//! Threads that serve a child's pipes, and can be told to stop although a pipe is held open by someone.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::{Builder, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

use crate::output::Stream;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// POSIX: a pipe that polls as writable takes this many bytes without blocking (`PIPE_BUF`, at least 512).
const WRITABLE_WITHOUT_BLOCKING: usize = 512;

/// What the threads of a run report to the one that waits.
pub(crate) enum Note {
    /// Bytes of a stream.
    Chunk(Stream, Vec<u8>),
    /// A stream is at its end, or cannot be read any more.
    Closed(Stream),
    /// The group's leader has ended and can be reaped.
    Exited(io::Result<()>),
    /// An interrupt was asked for: look at the flag.
    Interrupt,
}

/// Stops the threads of a run once its other end is dropped.
pub(crate) type Cancel = Arc<PipeReader>;

/// Reads a stream to its end.
pub(crate) fn drain(
    stream: Stream,
    mut pipe: impl Read + AsFd + Send + 'static,
    cancel: Cancel,
    notes: SyncSender<Note>,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name(format!("pto-process-{stream:?}")).spawn(move || {
        let mut buffer = vec![0; CHUNK];
        while ready(&pipe, PollFlags::IN, &cancel) {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) if notes.send(Note::Chunk(stream, buffer[..n].to_vec())).is_err() => return,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // Nobody listening means the run is over.
        let _ = notes.send(Note::Closed(stream));
    })
}

/// Writes the bytes and closes the pipe. A child that does not read them all is no error: `head` does so.
pub(crate) fn feed(
    bytes: Vec<u8>,
    mut pipe: impl Write + AsFd + Send + 'static,
    cancel: Cancel,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name("pto-process-stdin".into()).spawn(move || {
        for piece in bytes.chunks(WRITABLE_WITHOUT_BLOCKING) {
            if !ready(&pipe, PollFlags::OUT, &cancel) || pipe.write_all(piece).is_err() {
                return;
            }
        }
    })
}

/// Waits until the pipe can be used; `false` once the run is cancelled.
fn ready(pipe: &impl AsFd, flags: PollFlags, cancel: &PipeReader) -> bool {
    let mut fds = [PollFd::new(pipe, flags), PollFd::new(cancel, PollFlags::IN)];
    // The cancel pipe never carries data: any event on it is the hang-up of its dropped other end.
    rustix::io::retry_on_intr(|| poll(&mut fds, None)).is_ok() && fds[1].revents().is_empty()
}
