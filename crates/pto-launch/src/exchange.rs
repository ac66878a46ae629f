//! The files through which caller and worker speak, in a directory of one launch.
//!
//! Files, because a kernel may write anything to stdout and stderr, and close any descriptor it finds.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::args::{Buffer, Init, repeated};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::verdict::{Note, Verdict};
use pto_platform::RunMode;

/// What a worker has to say in the end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The launch was tried.
    Launched(Report),
    /// It was not.
    Refused(Refusal),
}

/// How a launch went, as the worker sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) verdict: Verdict,
    pub(crate) notes: Vec<Note>,
    pub(crate) device_time_ns: Option<u64>,
    /// The times of the launches that were timed.
    pub(crate) samples: Vec<Duration>,
}

/// Why a launch was not tried.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    Setup { message: String, hint: Option<String> },
    NotLoaded { reason: String },
    NoSymbol,
}

/// The directory of one launch.
pub(crate) struct Exchange {
    dir: PathBuf,
}

impl Exchange {
    pub(crate) fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn write_request(&self, request: &LaunchRequest) -> io::Result<()> {
        for (index, buffer) in request.buffers() {
            if let Init::Bytes(bytes) = &buffer.init {
                fs_err::write(self.input(index), bytes)?;
            }
        }
        fs_err::write(self.request(), serde_json::to_vec(request)?)
    }

    /// The request without the bytes of its buffers: see [`contents`](Self::contents).
    pub(crate) fn read_request(&self) -> io::Result<LaunchRequest> {
        Ok(serde_json::from_slice(&fs_err::read(self.request())?)?)
    }

    /// What the buffer of the argument with this index holds before the launch.
    pub(crate) fn contents(&self, index: usize, buffer: &Buffer) -> io::Result<Vec<u8>> {
        match &buffer.init {
            Init::Bytes(_) => fs_err::read(self.input(index)),
            Init::Pattern(pattern) => Ok(repeated(pattern, buffer.bytes)),
        }
    }

    /// Written whole and then renamed: a worker that dies while it writes has not answered.
    pub(crate) fn write_answer(&self, answer: &Answer) -> io::Result<()> {
        let partial = self.dir.join("answer.partial");
        fs_err::write(&partial, serde_json::to_vec(answer)?)?;
        fs_err::rename(partial, self.answer())
    }

    pub(crate) fn read_answer(&self) -> Option<Answer> {
        serde_json::from_slice(&std::fs::read(self.answer()).ok()?).ok()
    }

    /// Says that there was an answer which could not be written.
    pub(crate) fn give_up(&self) {
        self.mark("unanswered");
    }

    pub(crate) fn was_given_up(&self) -> bool {
        self.is_marked("unanswered")
    }

    pub(crate) fn write_output(&self, index: usize, bytes: &[u8]) -> io::Result<()> {
        fs_err::write(self.output(index), bytes)
    }

    pub(crate) fn read_output(&self, index: usize, buffer: &Buffer) -> io::Result<Vec<u8>> {
        let found = fs_err::read(self.output(index))?;
        if found.len() == buffer.bytes {
            return Ok(found);
        }
        let message = format!("output `{}` has {} bytes, expected {}", buffer.name, found.len(), buffer.bytes);
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// Best effort, as the next one: it only explains.
    pub(crate) fn write_run_mode(&self, mode: &RunMode) {
        let _ = std::fs::write(self.run_mode(), serde_json::to_vec(mode).unwrap_or_default());
    }

    pub(crate) fn read_run_mode(&self) -> Option<RunMode> {
        serde_json::from_slice(&std::fs::read(self.run_mode()).ok()?).ok()
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.mark(&phase_mark(phase));
    }

    /// The phase that was entered last; `None` when the worker did not even begin.
    pub(crate) fn phase(&self) -> Option<Phase> {
        Phase::ALL.into_iter().rev().find(|phase| self.is_marked(&phase_mark(*phase)))
    }

    /// Leaves a symbolic link that leads nowhere: it is there or not, needs no room on a full disk, and no descriptor,
    /// which a kernel that closes all it finds could close under our hands.
    fn mark(&self, name: &str) {
        let _ = std::os::unix::fs::symlink("mark", self.dir.join(name));
    }

    fn is_marked(&self, name: &str) -> bool {
        self.dir.join(name).is_symlink()
    }

    fn request(&self) -> PathBuf {
        self.dir.join("request.json")
    }

    fn answer(&self) -> PathBuf {
        self.dir.join("answer.json")
    }

    fn run_mode(&self) -> PathBuf {
        self.dir.join("run_mode.json")
    }

    fn input(&self, index: usize) -> PathBuf {
        self.dir.join(format!("{index}.in"))
    }

    fn output(&self, index: usize) -> PathBuf {
        self.dir.join(format!("{index}.out"))
    }
}

fn phase_mark(phase: Phase) -> String {
    format!("entered.{phase:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_the_last_one_entered() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        assert_eq!(exchange.phase(), None);
        for phase in Phase::ALL {
            exchange.enter(phase);
            assert_eq!(exchange.phase(), Some(phase));
        }
    }

    #[test]
    fn a_partial_answer_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        assert!(exchange.read_answer().is_none());
        fs_err::write(exchange.answer(), "{\"launched\":{\"verd").unwrap();
        assert!(exchange.read_answer().is_none());
        exchange.write_answer(&Answer::Refused(Refusal::NoSymbol)).unwrap();
        assert!(matches!(exchange.read_answer(), Some(Answer::Refused(Refusal::NoSymbol))));
    }

    #[test]
    fn an_output_of_another_size_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        let buffer = Buffer { name: "y".into(), bytes: 4, init: Init::Pattern(vec![]), output: true };
        exchange.write_output(0, &[1, 2, 3]).unwrap();
        assert_eq!(exchange.read_output(0, &buffer).unwrap_err().to_string(), "output `y` has 3 bytes, expected 4");
    }
}
