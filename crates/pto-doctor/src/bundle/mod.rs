//! What a problem report should carry, in one file that can be sent: nothing is sent by us, and nothing in it gives away a
//! secret or a person.

mod archive;
mod collect;
mod logs;
mod mask;

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::Context;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::check::{Check, Source, checks};
use crate::error::DoctorError;
use crate::examine::judge;
use crate::probes::Probes;
use crate::report::Report;
use crate::triage::{Surroundings, Triager};
use mask::Mask;
use pto_devices::ProbeOptions;

const SCHEMA: &str = "ptokit.bundle-manifest/1";
const MANIFEST: &str = "manifest.json";
/// The directory in the archive.
const TOP: &str = "ptokit-bundle";

/// What to gather besides what is always gathered.
#[derive(Debug, Clone)]
pub struct BundleRequest {
    /// Logs, or directories of logs.
    pub logs: Vec<PathBuf>,
    /// What the user says: the exact `docker run` command, what was expected.
    pub note: Option<String>,
    /// How to ask programs.
    pub probes: ProbeOptions,
}

/// Everything gathered, masked, and not yet written.
pub struct Bundle {
    /// The examination that is in it.
    pub report: Report,
    files: Vec<File>,
    missing: Vec<Missing>,
    mask: Mask,
    created: SystemTime,
}

/// One file of the bundle.
struct Part {
    path: String,
    what: String,
    cut_bytes: u64,
    contents: Contents,
}

enum Contents {
    Text(String),
    /// Masked value by value, so that it stays a document.
    Document(Value),
}

impl Contents {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Document(value) => format!("{value:#}\n").into_bytes(),
        }
    }
}

/// A file as it goes into the archive.
struct File {
    listed: Listed,
    bytes: Vec<u8>,
}

/// What is inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    schema: &'static str,
    /// When, in seconds since 1970 UTC.
    pub created: u64,
    /// Our own version.
    pub version: &'static str,
    /// Every file but this one.
    pub files: Vec<Listed>,
    /// What a report should carry and this one does not.
    pub missing: Vec<Missing>,
    /// What was masked, by kind.
    pub masked: Vec<&'static str>,
}

/// A file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its path in the bundle.
    pub path: String,
    /// What it is.
    pub what: String,
    /// Its size.
    pub bytes: u64,
    /// How much of the original was left out.
    pub cut_bytes: u64,
    /// SHA-256 of its contents.
    pub sha256: String,
}

/// What a report should carry and this one does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why, and what to do.
    pub why: String,
}

impl Missing {
    fn new(what: &str, why: &str) -> Self {
        Self { what: what.to_owned(), why: why.to_owned() }
    }
}

impl Part {
    fn text(path: &str, what: &str, text: String) -> Self {
        Self { path: path.to_owned(), what: what.to_owned(), cut_bytes: 0, contents: Contents::Text(text) }
    }

    fn document(path: &str, what: &str, value: Value) -> Self {
        Self { path: path.to_owned(), what: what.to_owned(), cut_bytes: 0, contents: Contents::Document(value) }
    }
}

impl File {
    fn new(path: String, what: String, cut_bytes: u64, bytes: Vec<u8>) -> Self {
        let digest = Sha256::digest(&bytes);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { listed: Listed { path, what, bytes: bytes.len() as u64, cut_bytes, sha256 }, bytes }
    }
}

impl Bundle {
    /// Examines the machine, and gathers what a report should carry.
    ///
    /// # Errors
    /// A log that was given cannot be read, or an interrupt was asked for.
    pub fn gather(cx: &Context, request: &BundleRequest) -> Result<Self, DoctorError> {
        let mut missing = Vec::new();
        // First, for a name that was mistyped is said at once.
        let logs = logs::parts(&logs::choose(cx, &request.logs), &mut missing)?;
        let chosen: Vec<&'static Check> = checks().collect();
        let wanted = chosen.iter().flat_map(|check| check.needs).copied().chain([Source::Containers]).collect();
        let probes = Probes::gather(cx, &wanted, &request.probes);
        if pto_context::interrupt::requested() {
            return Err(DoctorError::Interrupted);
        }
        let report = judge(cx, &probes, &chosen, false);
        let mut parts = collect::parts(cx, &probes, &report, &mut missing);
        if let Some(note) = &request.note {
            parts.push(Part::text("note.txt", "what the user says", format!("{note}\n")));
        }
        match logs.is_empty() {
            true => missing.push(Missing::new("logs", "none was found; give them with `--log`")),
            false => parts.push(triage(cx, &logs)),
        }
        parts.extend(logs);
        let mask = Mask::of(cx, versions(cx, &probes));
        let mut bundle = Self { report, files: Vec::new(), missing, mask, created: SystemTime::now() };
        for part in parts {
            bundle.add(part)?;
        }
        Ok(bundle)
    }

    /// Adds a text.
    ///
    /// # Errors
    /// An interrupt was asked for.
    pub fn attach(&mut self, path: &str, what: &str, text: &str) -> Result<(), DoctorError> {
        self.add(Part::text(path, what, text.to_owned()))
    }

    /// Adds a document; what is none is added as a text.
    ///
    /// # Errors
    /// An interrupt was asked for.
    pub fn attach_json(&mut self, path: &str, what: &str, text: &str) -> Result<(), DoctorError> {
        match serde_json::from_str(text) {
            Ok(value) => self.add(Part::document(path, what, value)),
            Err(_) => self.attach(path, what, text),
        }
    }

    /// Nothing gets in but through here.
    fn add(&mut self, mut part: Part) -> Result<(), DoctorError> {
        if pto_context::interrupt::requested() {
            return Err(DoctorError::Interrupted);
        }
        match &mut part.contents {
            Contents::Text(text) => *text = self.mask.text(text),
            Contents::Document(value) => self.mask.document(value),
        }
        // The name of a log, and where it was, may be telling as well.
        let path = self.mask.text(&part.path).replace('*', "x");
        let what = self.mask.text(&part.what);
        self.files.push(File::new(path, what, part.cut_bytes, part.contents.bytes()));
        Ok(())
    }

    /// What is inside.
    pub fn manifest(&self) -> Manifest {
        let missing =
            self.missing.iter().map(|one| Missing::new(&self.mask.text(&one.what), &self.mask.text(&one.why)));
        Manifest {
            schema: SCHEMA,
            created: self.created.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            version: env!("CARGO_PKG_VERSION"),
            files: self.files.iter().map(|file| file.listed.clone()).collect(),
            missing: missing.collect(),
            masked: mask::KINDS.to_vec(),
        }
    }

    /// Writes the archive, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written, or an interrupt was asked for.
    pub fn write(mut self, path: &Path) -> Result<Manifest, DoctorError> {
        let manifest = self.manifest();
        let first = collect::json(MANIFEST, "what is inside", &manifest);
        self.files.insert(0, File::new(first.path, first.what, 0, first.contents.bytes()));
        archive::write(path, TOP, &self.files, self.created)?;
        Ok(manifest)
    }
}

/// Versions that look like addresses.
fn versions(cx: &Context, probes: &Probes) -> Vec<String> {
    let table = probes.npus();
    let of_table = table.into_iter().flat_map(|table| [table.driver_version, table.tool_version]).flatten();
    let driver = match crate::facts::driver_file(cx) {
        crate::facts::DriverFile::Read(_, info) => info.version.map(|version| version.to_string()),
        _ => None,
    };
    of_table.chain(driver).collect()
}

/// What the logs mean: whoever reads the report begins there.
fn triage(cx: &Context, logs: &[Part]) -> Part {
    let mut triager = Triager::new(Surroundings::of(cx));
    for log in logs {
        if let Contents::Text(text) = &log.contents {
            // Reading from memory cannot fail.
            let _ = triager.log(&log.path, Cursor::new(text));
        }
    }
    collect::json("triage.json", "what the logs mean, the first cause first", &triager.finish())
}
