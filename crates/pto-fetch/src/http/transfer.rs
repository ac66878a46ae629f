//! One request, from the first byte asked for to the last byte on the disk.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use fs_err::File;
use pto_store::{Error as StoreError, stop_if_interrupted};
use ureq::ResponseExt;
use ureq::http::Response;

use super::Http;
use super::failure::HttpProblem;
use crate::digest::{self, CHUNK, Sum};
use crate::error::Error;

/// Chunks on their way from the network to the disk: with [`CHUNK`] this bounds the memory of a download, whatever its size.
const IN_FLIGHT: usize = 8;

/// How often a waiting download looks whether the user has asked for the end.
const LOOK: Duration = Duration::from_millis(50);

/// How a request ended.
pub(super) enum End {
    /// Everything the server has is in the file.
    Complete {
        /// sha256 of the whole file.
        sum: String,
        /// Where redirects led.
        url: String,
    },
    Failed {
        problem: HttpProblem,
        /// Where redirects led, if it came to that.
        url: Option<String>,
        /// Whether something came that was not there before.
        moved: bool,
    },
}

/// What comes from the thread that talks to the server.
enum Note {
    Head { status: u16, start: Option<u64>, length: Option<u64>, retry_after: Option<Duration>, url: String },
    Chunk(Vec<u8>),
    End,
    Broken(HttpProblem),
}

/// Gets what is missing in `part`. `on_size` hears the whole size once, `on_bytes` how many are there.
///
/// The network is read on a thread of its own: the sum is computed while the next bytes come, and an interrupt is obeyed
/// while none do. A thread that waits for a dead server ends by itself when [`Limits::patience`](super::Limits) is over.
pub(super) fn transfer(http: &Http, url: &str, part: &Path, on: &mut dyn Observer) -> Result<End, Error> {
    let have = std::fs::metadata(part).map_or(0, |meta| meta.len());
    let agent = http.agent(url)?;
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let (sender, notes) = sync_channel(IN_FLIGHT);
    let patience = http.limits.patience;
    let talk = move || talk(request, &sender, patience);
    std::thread::Builder::new()
        .name("pto-fetch-http".into())
        .spawn(talk)
        .map_err(|e| StoreError::io("cannot start a thread for the download", e))?;
    receive(&notes, part, have, on)
}

/// Hears how far a download is.
pub(super) trait Observer {
    fn size(&mut self, bytes: u64);
    fn done(&mut self, bytes: u64);
}

fn talk(request: ureq::RequestBuilder<ureq::typestate::WithoutBody>, notes: &SyncSender<Note>, patience: Duration) {
    let broken = |problem| {
        // Whoever waited for it may be gone.
        let _ = notes.send(Note::Broken(problem));
    };
    let response = match request.call() {
        Ok(response) => response,
        Err(error) => return broken(HttpProblem::of(&error, patience)),
    };
    if notes.send(head(&response)).is_err() {
        return;
    }
    let mut body = response.into_body().into_reader();
    loop {
        let mut chunk = vec![0; CHUNK];
        match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                chunk.truncate(n);
                if notes.send(Note::Chunk(chunk)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return broken(HttpProblem::of(&ureq::Error::from(error), patience)),
        }
    }
    let _ = notes.send(Note::End);
}

fn head(response: &Response<ureq::Body>) -> Note {
    let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| text(name).and_then(|value| value.trim().parse::<u64>().ok());
    Note::Head {
        status: response.status().as_u16(),
        // `bytes 100-999/1000`
        start: text("content-range")
            .and_then(|range| range.trim().strip_prefix("bytes ")?.split('-').next()?.parse().ok()),
        length: number("content-length"),
        retry_after: number("retry-after").map(Duration::from_secs),
        url: pto_process::masked(&response.get_uri().to_string()),
    }
}

fn receive(notes: &Receiver<Note>, part: &Path, have: u64, on: &mut dyn Observer) -> Result<End, Error> {
    let failed = |problem, url| Ok(End::Failed { problem, url, moved: false });
    let (status, start, length, retry_after, url) = match next(notes)? {
        Note::Head { status, start, length, retry_after, url } => (status, start, length, retry_after, url),
        Note::Broken(problem) => return failed(problem, None),
        Note::Chunk(_) | Note::End => return failed(HttpProblem::Connection("no answer".to_owned()), None),
    };
    let offset = match (status, start) {
        (200, _) => 0,
        (206, Some(start)) if start == have => have,
        // Nothing is behind what we have: it is the whole file, or a longer one, which its sum will tell.
        (416, _) if have > 0 => return Ok(End::Complete { sum: digest::of_file(part)?, url }),
        (206, _) => {
            return failed(HttpProblem::Lasting("it sent another range than the one asked for".to_owned()), Some(url));
        }
        _ => return failed(HttpProblem::Status { status, retry_after }, Some(url)),
    };
    let mut into = Part::open(part, offset)?;
    into.check_room(length.unwrap_or(0))?;
    let expected = length.map(|length| offset + length);
    if let Some(expected) = expected {
        on.size(expected);
    }
    loop {
        match next(notes)? {
            Note::Chunk(chunk) => {
                into.write(&chunk)?;
                on.done(into.length);
            }
            Note::End if expected.is_none_or(|expected| expected == into.length) => {
                return Ok(End::Complete { sum: into.finish()?, url });
            }
            note => {
                let (got, moved) = (into.length, into.length > have);
                into.finish()?;
                let problem = match (note, expected) {
                    (Note::Broken(HttpProblem::Stalled(time)), _) => HttpProblem::Stalled(time),
                    (_, Some(expected)) => HttpProblem::Cut { got, expected },
                    (Note::Broken(problem), None) => problem,
                    _ => HttpProblem::Connection("the answer made no sense".to_owned()),
                };
                return Ok(End::Failed { problem, url: Some(url), moved });
            }
        }
    }
}

/// The next note; an interrupt ends the wait.
fn next(notes: &Receiver<Note>) -> Result<Note, Error> {
    loop {
        stop_if_interrupted()?;
        match notes.recv_timeout(LOOK) {
            Ok(note) => return Ok(note),
            Err(RecvTimeoutError::Timeout) => {}
            // The thread panicked.
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Note::Broken(HttpProblem::Lasting("the download ended without a word".to_owned())));
            }
        }
    }
}

/// The file that grows, and its sum.
struct Part {
    file: File,
    sum: Sum,
    length: u64,
    under: std::path::PathBuf,
}

impl Part {
    /// Keeps the first `offset` bytes.
    fn open(path: &Path, offset: u64) -> Result<Self, Error> {
        let under = path.parent().unwrap_or(path).to_path_buf();
        let failed = |e| StoreError::write("cannot write to the store", &under, e);
        let mut sum = Sum::default();
        if offset > 0 {
            digest::feed_file(path, &mut sum)?;
        }
        let file = File::options().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(offset).map_err(failed)?;
        Ok(Self { file, sum, length: offset, under })
    }

    /// Refuses what the disk has no room for before the first byte of it is on its way.
    fn check_room(&self, needed: u64) -> Result<(), Error> {
        let free = rustix::fs::statvfs(&self.under).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize));
        if free.is_ok_and(|free| free < needed) {
            let full = std::io::ErrorKind::StorageFull.into();
            return Err(StoreError::write("cannot write to the store", &self.under, full).into());
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|e| StoreError::write("cannot write to the store", &self.under, e))?;
        self.sum.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<String, Error> {
        Ok(self.sum.finish())
    }
}
