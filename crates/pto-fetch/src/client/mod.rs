//! The ordinary Python package clients, and how one of them delivers a pinned wheel.

pub(crate) mod mirrors;
mod pip;
mod uv;

use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use pto_process::{Error as ProcessError, Invocation, Output, Status};
use pto_store::Error as StoreError;

use crate::error::{Attempt, Error};
use crate::pin::WheelPin;

/// How many of a client's last lines are shown: a registry's answer and its cause fit.
const LAST_WORDS: usize = 12;

/// The directories of one download. They live in the store, outlast a run that is interrupted, and are deleted when
/// the entry is there.
pub(crate) struct Workplace {
    /// Where `pip` puts the wheel.
    pub(crate) wheels: PathBuf,
    /// `uv`'s cache.
    pub(crate) cache: PathBuf,
    /// Where `uv` installs to.
    pub(crate) tree: PathBuf,
    /// The clients' `TMPDIR`; empty at the start.
    pub(crate) tmp: PathBuf,
}

impl Workplace {
    /// The directory that all of them are in.
    fn downloads(&self) -> &Path {
        self.wheels.parent().unwrap_or(&self.wheels)
    }
}

/// What a client delivered.
pub(crate) enum Delivery {
    /// A wheel, not yet verified.
    Wheel { file: PathBuf, origin: String },
    /// The wheel's files, unpacked by the client after it has verified the pinned sha256.
    Tree(PathBuf),
}

/// How one try ended.
pub(crate) enum Try {
    Delivered(Delivery),
    /// The client is not on this machine.
    Absent,
    /// It is, but cannot be run: a stub that leads nowhere, a script without its interpreter.
    Broken(Attempt),
    /// It ran and could not get the wheel.
    Failed {
        attempt: Attempt,
        /// The clients that are left are this one under another name, and would fail as well.
        last_resort: bool,
    },
}

/// Gets the wheel with the first client that can.
pub(crate) fn deliver(cx: &Context, pin: &WheelPin, place: &Workplace) -> Result<Delivery, Error> {
    let mut attempts = Vec::new();
    for client in [uv::deliver, pip::deliver_with_pip, pip::deliver_with_python] {
        match client(cx, pin, place)? {
            Try::Delivered(delivery) => return Ok(delivery),
            Try::Absent => {}
            Try::Broken(attempt) => attempts.push(attempt),
            Try::Failed { attempt, last_resort } => {
                attempts.push(attempt);
                if last_resort {
                    break;
                }
            }
        }
        if let Some(attempt) = attempts.last() {
            cx.emit(Event::Warning { message: format!("{}; trying another client", attempt.ended) });
        }
    }
    let artifact = pin.requirement();
    Err(if attempts.is_empty() { Error::NoClient { artifact } } else { Error::Clients { artifact, attempts } })
}

/// Runs a client that writes under a directory. `Err(Try)` tells a client that is absent or failed from an error that ends everything.
pub(crate) fn run(cx: &Context, client: Invocation, under: &Path) -> Result<Result<Output, Try>, Error> {
    let line = client.to_shell_line();
    let output = match client.run(cx) {
        Ok(output) => output,
        Err(ProcessError::NotFound { .. }) => return Ok(Err(Try::Absent)),
        Err(error @ ProcessError::Start { .. }) => {
            let last_words = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            return Ok(Err(Try::Broken(Attempt { line, ended: error.to_string(), last_words })));
        }
        Err(error) if error.is_interrupted() => return Err(StoreError::Interrupted.into()),
        Err(error) => return Err(Error::Process(error)),
    };
    match output.status {
        Status::Exited(0) => Ok(Ok(output)),
        Status::Interrupted => Err(StoreError::Interrupted.into()),
        _ if output.says_disk_full() => {
            let source = std::io::Error::new(std::io::ErrorKind::StorageFull, output.last_words(2));
            Err(StoreError::NoSpace { path: under.to_owned(), source }.into())
        }
        status => {
            let ended = format!("`{}` {status}", output.program);
            let attempt = Attempt { line, ended, last_words: output.last_words(LAST_WORDS) };
            // What shells, and the stubs of version managers, say of a program that is not there.
            let broken = matches!(status, Status::Exited(126 | 127));
            Ok(Err(if broken { Try::Broken(attempt) } else { Try::Failed { attempt, last_resort: false } }))
        }
    }
}
