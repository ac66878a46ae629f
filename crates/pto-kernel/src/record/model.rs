//! What a record holds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pto_platform::{RanOn, Target};
use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Serialize};

use super::bench::RecordedBench;
use crate::run::{CaseStatus, KernelStatus};

/// What was verified, how, and what came of it. One file, `ptokit.record/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`Record::SCHEMA`].
    pub schema: String,
    /// The kernel's name.
    pub kernel: String,
    /// Its manifest, absolute.
    pub manifest: PathBuf,
    /// The verb that made the record: `test` or `bench`.
    pub verb: String,
    /// When, in UTC, as RFC 3339 has it.
    pub written_at: String,
    /// The target.
    pub target: Target,
    /// The SoC whose cores were counted; on the CPU the one that was played.
    pub soc: Option<String>,
    /// Whether that is the one which is taken when nobody asks for another.
    pub usual_soc: bool,
    /// What the kernel really ran on; `None` if it did not run.
    pub mode: Option<RanOn>,
    /// The launch path: `direct`, `msprof`, `cannsim`, `linked` or `cpu`; `None` if none was chosen.
    pub path: Option<String>,
    /// The device's index; `None` if it did not run.
    pub device: Option<u32>,
    /// `passed`, `failed`, `not_built`, `malformed`, `blocked`, `interrupted`.
    pub status: String,
    /// Whether all cases passed.
    pub passed: bool,
    /// Whether all cases of the manifest were asked for.
    pub complete: bool,
    /// What was typed, and what that ran.
    pub commands: Commands,
    /// With what.
    pub versions: Versions,
    /// Which dims a case gives, and which are compiled in.
    pub dims: Dims,
    /// How many blocks are launched.
    pub block_dim: BlockDim,
    /// What outputs were held against.
    pub tolerances: Vec<ToleranceUsed>,
    /// How often each case ran; 0 if none did.
    pub repeats: u32,
    /// The cases in the order in which they ran.
    pub cases: Vec<RecordedCase>,
    /// What could not be done here, and why.
    pub blockers: Vec<String>,
    /// What all this is about.
    pub digests: Digests,
    /// The revision of the kernel's directory; `None` where it is in no repository.
    pub git: Option<Revision>,
    /// What a bench measured; `None` for a test.
    #[serde(default)]
    pub bench: Option<RecordedBench>,
}

/// Command lines that can be pasted into a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// Repeats the run.
    pub repeat: String,
    /// What compiled the kernel.
    pub compile: Vec<String>,
    /// The call of the launcher, as C has it; of a simulator also its command line.
    pub launch: Vec<String>,
}

/// What a run was done with. What is not on the machine, or was not used, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// These tools.
    pub ptokit: String,
    /// CANN's release.
    pub cann: Option<String>,
    /// The NPU driver.
    pub driver: Option<String>,
    /// The PTO assembler.
    pub ptoas: Option<String>,
    /// Where PTO-ISA's headers are from.
    pub pto_isa: Option<String>,
    /// The compiler in its own words.
    pub compiler: Option<String>,
    /// System and processor.
    pub host: String,
}

/// Which dims a case gives, and which are compiled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dims {
    /// Given by each case.
    pub dynamic: Vec<String>,
    /// Compiled in, with their lengths.
    #[serde(rename = "static")]
    pub fixed: BTreeMap<String, i64>,
}

/// How many blocks are launched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDim {
    /// The manifest's expression.
    pub expression: String,
    /// Its values over all cases, each once, in rising order.
    pub values: Vec<u32>,
}

/// What an output was held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToleranceUsed {
    /// The output.
    pub output: String,
    /// The type of its elements.
    pub dtype: String,
    /// The rule in words, with its limits.
    pub rule: String,
    /// Whether it is looser than the default of the type.
    pub looser: bool,
    /// Why it is another than the default of the type.
    pub reason: Option<String>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCase {
    /// As the command line takes it, `n=4096`.
    pub case: String,
    /// The dynamic dims.
    pub dims: BTreeMap<String, i64>,
    /// Where the case comes from.
    pub origin: String,
    /// What random inputs were made from.
    pub seed: u64,
    /// Blocks launched.
    pub block_dim: u32,
    /// The shapes of all tensors by name.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// How it ended.
    pub status: String,
    /// The same in one line.
    pub message: String,
    /// The largest absolute error of all outputs.
    pub worst_abs: Option<f64>,
    /// The largest RMSE of an output, relative to the root mean square of its golden: outliers alone do not move it.
    pub relative_rmse: Option<f64>,
    /// The smallest coefficient of determination of an output; absent where the golden values are all the same.
    pub r2: Option<f64>,
    /// From launch to end by the stream's clock, in seconds. On the CPU this measures the simulator.
    pub device_seconds: Option<f64>,
}

/// What all this is about, by SHA-256.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// The manifest, the sources, what these include, and what the golden is made from. Paths are relative to the
    /// manifest's directory where they lie below it.
    pub sources: Vec<FileDigest>,
    /// PTO-ISA's headers.
    pub headers: Option<TreeDigest>,
    /// What was launched.
    pub artifact: Option<FileDigest>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Where it is.
    pub path: PathBuf,
    /// Its SHA-256.
    pub sha256: String,
}

/// A directory, with all that is below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeDigest {
    /// Where it is.
    pub path: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// A SHA-256 over the paths and contents of all of them.
    pub sha256: String,
}

/// A revision of git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The commit.
    pub commit: String,
    /// Whether something in the kernel's directory differs from it.
    pub dirty: bool,
}

impl Record {
    /// The schema of the file.
    pub const SCHEMA: &'static str = "ptokit.record/1";
    /// The status of a run that the user ended.
    pub const INTERRUPTED: &'static str = "interrupted";

    const SUFFIX_INTERRUPTED: &'static str = "-interrupted";

    /// How it ended, in words for people. A status that these tools do not know stays as it is written.
    pub fn verdict(&self) -> &str {
        in_words(&self.status, KernelStatus::word)
    }

    /// The file of a run of the same that was interrupted, which this one makes good.
    pub(super) fn superseded(&self) -> Option<String> {
        let again = Self { status: Self::INTERRUPTED.to_owned(), ..self.clone() };
        (self.status != Self::INTERRUPTED && self.complete).then(|| again.file_name())
    }

    /// Whether it counts for the definition of done: about all cases, on the usual SoC. On a model one case has to do.
    pub fn is_whole(&self) -> bool {
        self.verb == "test" && self.usual_soc && (self.complete || self.mode == Some(RanOn::Model))
    }

    /// The name of its file: a later run of the same replaces it, another does not.
    pub fn file_name(&self) -> String {
        let mut name = format!("{}-{}", self.kernel, self.target);
        if let Some(soc) = self.soc.as_deref().filter(|_| !self.usual_soc) {
            name += &format!("-{soc}");
        }
        match (self.complete, self.cases.as_slice()) {
            // What was found before stays: an end by the user says nothing about the kernel.
            _ if self.status == Self::INTERRUPTED => name += Self::SUFFIX_INTERRUPTED,
            (false, [one]) => name += &format!("-{}", one.case),
            (false, _) => name += "-part",
            (true, _) => {}
        }
        if self.verb != "test" {
            name += &format!("-{}", self.verb);
        }
        name + ".json"
    }
}

impl RecordedCase {
    /// How it ended, in words for people. A status that these tools do not know stays as it is written.
    pub fn verdict(&self) -> &str {
        in_words(&self.status, CaseStatus::word)
    }
}

fn in_words<'a, Status: Deserialize<'a>>(status: &'a str, word: fn(Status) -> &'static str) -> &'a str {
    let known: Result<Status, serde::de::value::Error> = Status::deserialize(status.into_deserializer());
    known.map_or(status, word)
}
