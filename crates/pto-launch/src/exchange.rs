//! The files through which caller and worker speak, in a directory of one launch.
//!
//! Files, because a kernel may write anything to stdout and stderr, and close any descriptor it finds.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::args::{Argument, Init};
use crate::request::LaunchRequest;
use crate::verdict::{Note, Phase, Verdict};

/// What a worker has to say in the end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The launch was tried.
    Launched { verdict: Verdict, notes: Vec<Note>, device_time_ns: Option<u64> },
    /// It was not.
    Setup(String),
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
        for (index, argument) in request.arguments.iter().enumerate() {
            if let Argument::Buffer(buffer) = argument
                && let Init::Bytes(bytes) = &buffer.init
            {
                fs_err::write(self.input(index), bytes)?;
            }
        }
        fs_err::write(self.dir.join("request.json"), serde_json::to_vec(request)?)
    }

    pub(crate) fn read_request(&self) -> io::Result<LaunchRequest> {
        let mut request: LaunchRequest = serde_json::from_slice(&fs_err::read(self.dir.join("request.json"))?)?;
        for (index, argument) in request.arguments.iter_mut().enumerate() {
            if let Argument::Buffer(buffer) = argument
                && let Init::Bytes(bytes) = &mut buffer.init
            {
                *bytes = fs_err::read(self.input(index))?;
            }
        }
        Ok(request)
    }

    /// Written whole and then renamed: a worker that dies while it writes has not answered.
    pub(crate) fn write_answer(&self, answer: &Answer) -> io::Result<()> {
        let partial = self.dir.join("answer.partial");
        fs_err::write(&partial, serde_json::to_vec(answer)?)?;
        fs_err::rename(partial, self.dir.join("answer.json"))
    }

    pub(crate) fn read_answer(&self) -> Option<Answer> {
        serde_json::from_slice(&std::fs::read(self.dir.join("answer.json")).ok()?).ok()
    }

    pub(crate) fn write_output(&self, index: usize, bytes: &[u8]) -> io::Result<()> {
        fs_err::write(self.output(index), bytes)
    }

    pub(crate) fn read_output(&self, index: usize) -> io::Result<Vec<u8>> {
        fs_err::read(self.output(index))
    }

    /// Best effort: the phase only explains a death.
    pub(crate) fn enter(&self, phase: Phase) {
        let _ = std::fs::write(self.dir.join("phase"), serde_json::to_vec(&phase).unwrap_or_default());
    }

    pub(crate) fn phase(&self) -> Phase {
        let read = std::fs::read(self.dir.join("phase")).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Phase::Open)
    }

    fn input(&self, index: usize) -> PathBuf {
        self.dir.join(format!("{index}.in"))
    }

    fn output(&self, index: usize) -> PathBuf {
        self.dir.join(format!("{index}.out"))
    }
}
