//! The files through which caller and worker speak, in a directory of one launch.
//!
//! Files, because a kernel may write anything to stdout and stderr, and close any descriptor it finds.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::args::{Buffer, Init, repeated};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::run::Run;
use crate::verdict::{Note, Verdict};
use pto_platform::RunMode;

/// Files are compared in pieces of this many bytes.
const PIECE: usize = 1 << 20;

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
    /// The repeats that completed, in order.
    pub(crate) runs: Vec<Run>,
    /// The times of the launches that were timed.
    pub(crate) samples: Vec<Duration>,
}

/// Why a launch was not tried.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    Setup { message: String, hint: Option<String> },
    Environment { message: String },
    NotLoaded { reason: String },
    NoSymbol,
}

/// How a worker ended, as its keeper saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptEnd {
    Exited(i32),
    Signaled(i32),
    TimedOut,
}

impl KeptEnd {
    fn parse(text: &str) -> Option<Self> {
        let (word, number) = text.split_once('.')?;
        let number = number.parse().ok()?;
        match word {
            "exited" => Some(Self::Exited(number)),
            "signaled" => Some(Self::Signaled(number)),
            "late" => Some(Self::TimedOut),
            _ => None,
        }
    }
}

/// `exited.0`, `signaled.11`, `late.0`
impl std::fmt::Display for KeptEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited.{code}"),
            Self::Signaled(signal) => write!(f, "signaled.{signal}"),
            Self::TimedOut => f.write_str("late.0"),
        }
    }
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

    /// The answer, if it is whole. Who gives it need not know the names of codes: a host program has no table of them.
    pub(crate) fn read_answer(&self) -> Option<Answer> {
        let mut answer = serde_json::from_slice(&std::fs::read(self.answer()).ok()?).ok()?;
        if let Answer::Launched(Report { verdict: Verdict::Fault { code, name, .. }, .. }) = &mut answer
            && name.is_empty()
        {
            *name = pto_acl::known_code(*code).map_or("unknown code", |known| known.name).to_owned();
        }
        Some(answer)
    }

    /// Says that there was an answer which could not be written.
    pub(crate) fn give_up(&self) {
        self.mark("unanswered");
    }

    pub(crate) fn was_given_up(&self) -> bool {
        self.is_marked("unanswered")
    }

    /// Keeps an output of a variant: see [`Run::variant`].
    pub(crate) fn write_output(&self, variant: u32, index: usize, bytes: &[u8]) -> io::Result<()> {
        fs_err::write(self.output(variant, index), bytes)
    }

    /// Whether an output of a variant is these very bytes. Holds a piece of the file at a time: outputs may be large.
    pub(crate) fn holds_output(&self, variant: u32, index: usize, bytes: &[u8]) -> io::Result<bool> {
        let mut file = fs_err::File::open(self.output(variant, index))?;
        if file.metadata()?.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let mut piece = vec![0; bytes.len().min(PIECE)];
        for expected in bytes.chunks(PIECE) {
            let piece = &mut piece[..expected.len()];
            file.read_exact(piece)?;
            if piece != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn read_output(&self, variant: u32, index: usize, buffer: &Buffer) -> io::Result<Vec<u8>> {
        let found = fs_err::read(self.output(variant, index))?;
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
        match std::fs::read(self.run_mode()) {
            Ok(mode) => serde_json::from_slice(&mode).ok(),
            // A host program that takes the worker's place leaves the map itself.
            Err(_) => RunMode::of_maps(&String::from_utf8_lossy(&std::fs::read(self.dir.join("maps")).ok()?)),
        }
    }

    /// Says what the worker does from now on, and in which repeat, counted from 0. Replaced in one step, so there is always
    /// one answer.
    pub(crate) fn enter(&self, run: u32, phase: Phase) {
        let (next, entered) = (self.dir.join("phase.next"), format!("{run}.{phase:?}"));
        if std::os::unix::fs::symlink(&entered, &next).is_err() {
            // One that a killed copy of the worker left behind is in the way.
            let _ = std::fs::remove_file(&next);
            let _ = std::os::unix::fs::symlink(&entered, &next);
        }
        let _ = std::fs::rename(&next, self.dir.join("phase"));
    }

    /// The repeat and the phase that were entered last; `None` when the worker did not even begin.
    pub(crate) fn phase(&self) -> Option<(u32, Phase)> {
        let entered = std::fs::read_link(self.dir.join("phase")).ok()?;
        let (run, phase) = entered.to_str()?.split_once('.')?;
        Some((run.parse().ok()?, Phase::named(phase)?))
    }

    /// The link by which a keeper that is no child of the caller says how the worker ended.
    pub(crate) fn end_mark(&self) -> PathBuf {
        self.dir.join("end")
    }

    /// How the worker ended, where its keeper has said so.
    pub(crate) fn end(&self) -> Option<KeptEnd> {
        KeptEnd::parse(std::fs::read_link(self.end_mark()).ok()?.to_str()?)
    }

    /// The link by which the worker's watchdog says that a phase took too long; it leads to the phase's name.
    pub(crate) fn overdue_mark(&self) -> PathBuf {
        self.dir.join("overdue")
    }

    /// The phase that took too long, when the watchdog ended the worker for it.
    pub(crate) fn overdue(&self) -> Option<Phase> {
        Phase::named(std::fs::read_link(self.overdue_mark()).ok()?.to_str()?)
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

    fn output(&self, variant: u32, index: usize) -> PathBuf {
        self.dir.join(format!("{variant}.{index}.out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_the_last_one_entered() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        assert_eq!(exchange.phase(), None);
        for run in 0..2 {
            for phase in Phase::ALL {
                exchange.enter(run, phase);
                assert_eq!(exchange.phase(), Some((run, phase)));
            }
        }
    }

    #[test]
    fn an_output_is_held_if_every_byte_is() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        let mut bytes: Vec<u8> = (0..PIECE + 5).map(|at| at as u8).collect();
        exchange.write_output(0, 3, &bytes).unwrap();
        assert!(exchange.holds_output(0, 3, &bytes).unwrap());
        assert!(!exchange.holds_output(0, 3, &bytes[1..]).unwrap());
        *bytes.last_mut().unwrap() ^= 1;
        assert!(!exchange.holds_output(0, 3, &bytes).unwrap());
        assert!(exchange.holds_output(1, 3, &bytes).is_err(), "there is no such variant");
    }

    #[test]
    fn an_end_is_read_as_it_was_written() {
        for end in [KeptEnd::Exited(0), KeptEnd::Exited(7), KeptEnd::Signaled(11), KeptEnd::TimedOut] {
            assert_eq!(KeptEnd::parse(&end.to_string()), Some(end));
        }
        assert_eq!(KeptEnd::parse("exited"), None);
    }

    #[test]
    fn a_program_that_leaves_its_map_alone_is_understood() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        assert_eq!(exchange.read_run_mode(), None);
        let maps =
            "1-2 r-xp 0 00:00 1 /cann/lib64/libascendcl.so\n3-4 r-xp 0 00:00 2 /cann/lib/libruntime_camodel.so\n";
        fs_err::write(dir.path().join("maps"), maps).unwrap();
        assert_eq!(exchange.read_run_mode().unwrap().ran_on(), pto_platform::RanOn::Model);
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
    fn a_code_without_a_name_gets_that_of_the_table() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        for (code, given, expected) in
            [(507_015, "", "ACL_ERROR_RT_AICORE_EXCEPTION"), (-7, "", "unknown code"), (507_015, "MINE", "MINE")]
        {
            let verdict = Verdict::Fault { call: "f".into(), code, name: given.into(), message: String::new() };
            let report = Report { verdict, notes: Vec::new(), runs: Vec::new(), samples: Vec::new() };
            exchange.write_answer(&Answer::Launched(report)).unwrap();
            let Some(Answer::Launched(report)) = exchange.read_answer() else { panic!() };
            assert!(matches!(&report.verdict, Verdict::Fault { name, .. } if name == expected), "{}", report.verdict);
        }
    }

    #[test]
    fn an_output_of_another_size_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::new(dir.path());
        let buffer = Buffer { name: "y".into(), bytes: 4, init: Init::Pattern(vec![]), output: true };
        exchange.write_output(0, 0, &[1, 2, 3]).unwrap();
        assert_eq!(exchange.read_output(0, 0, &buffer).unwrap_err().to_string(), "output `y` has 3 bytes, expected 4");
    }
}
