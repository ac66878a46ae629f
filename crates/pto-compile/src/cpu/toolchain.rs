//! A compiler and a set of PTO-ISA headers that were seen to work together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use pto_process::Invocation;
use pto_store::Store;
use serde::{Deserialize, Serialize};

use super::compiler::{Candidate, Compiler, Family, candidates, find};
use super::diagnostics::Messages;
use super::error::{CpuError, Rejected};
use super::features::Features;
use super::flags::Flags;
use super::overlay;
use super::resources::{self, Resources};
use crate::deadline::{DEADLINE_VARIABLE, deadline};
use crate::deps::{Dependencies, parse_depfile};
use crate::key::Key;

/// The header that every PTO kernel includes.
const ENTRY: &str = "pto/pto-inst.hpp";
const CONFIG: &str = "config.json";
const DEPFILE: &str = "probe.d";
const OVERLAY: &str = "overlay";

/// What a toolchain is to be made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolchainRequest {
    /// The directory to put behind `-I` for `#include <pto/pto-inst.hpp>`.
    pub headers: PathBuf,
    /// A compiler the user gave, possibly with leading arguments. `CXX` counts if this is nothing.
    pub cxx: Option<String>,
    /// A compiler to take when none on the machine passes, for example `<store>/ziglang/zig c++`.
    pub fallback: Option<Vec<OsString>>,
}

/// A compiler and headers that compiled, linked and ran a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Toolchain {
    /// The compiler.
    pub compiler: Compiler,
    /// The PTO-ISA include directory.
    pub headers: PathBuf,
    /// What the headers have and lack.
    pub features: Features,
    pub(super) resources: Resources,
    pub(super) flags: Flags,
    /// Names compiler, headers and our own C++ in keys.
    pub(super) identity: String,
}

/// What is remembered of a configuration. Rejections too: or each run would try an old compiler again.
#[derive(Serialize, Deserialize)]
enum Config {
    Fit { compiler: Compiler, features: Features, overlaid: usize },
    Unfit { reason: String },
}

impl Toolchain {
    /// Finds the first compiler that works with the headers. Remembered in the store until one of them changes.
    ///
    /// # Errors
    /// The headers are not there; the compiler the user named cannot do it; none can, and then the error says what each
    /// was missing.
    pub fn configure(cx: &Context, store: &Store, request: &ToolchainRequest) -> Result<Self, CpuError> {
        let entry = request.headers.join(ENTRY);
        if !entry.is_file() {
            return Err(CpuError::NoHeaders { looked_for: entry });
        }
        let headers = fs_err::canonicalize(&request.headers).map_err(CpuError::Headers)?;
        let resources = Resources::materialize(cx, store)?;
        let mut tried = Vec::new();
        let cache = store.root().join("compiler-cache");
        for candidate in candidates(cx, request.cxx.as_deref(), request.fallback.as_deref(), &cache) {
            match Self::with_candidate(cx, store, &candidate, &resources, &headers) {
                Ok(toolchain) => return Ok(toolchain),
                Err(Unfit::Error(error)) => return Err(error),
                Err(Unfit::Rejected(reason) | Unfit::Unsure(reason)) => {
                    let compiler = candidate.command.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ");
                    let rejected = Rejected { compiler, why_tried: candidate.why.clone(), reason };
                    if candidate.named {
                        return Err(CpuError::NamedCompiler { rejected });
                    }
                    tried.push(rejected);
                }
            }
        }
        Err(CpuError::NoCompiler { tried })
    }

    fn with_candidate(
        cx: &Context,
        store: &Store,
        candidate: &Candidate,
        resources: &Resources,
        headers: &Path,
    ) -> Result<Self, Unfit> {
        let key =
            candidate_key(cx, candidate).map_err(Unfit::Rejected)?.path(headers).with(resources::digest()).finish();
        let entry = store.entry("cpu-config", &key).map_err(CpuError::from)?;
        Dependencies::get_fresh(cx, &entry)?;
        let dir = entry.get_or_build(cx, |dir| configure_in(cx, candidate, resources, headers, dir))?;
        let config = fs_err::read(dir.join(CONFIG)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (compiler, features, overlaid) = match config {
            Some(Config::Fit { compiler, features, overlaid }) => (compiler, features, overlaid),
            Some(Config::Unfit { reason }) => return Err(Unfit::Rejected(reason)),
            None => return Err(Unfit::Rejected(format!("`{}` is unreadable; delete it", dir.join(CONFIG).display()))),
        };
        let overlay = (overlaid > 0).then(|| dir.join(OVERLAY));
        let flags = Flags::new(&compiler, resources, overlay.as_deref(), headers);
        let words = flags.args.iter().map(|arg| arg.as_encoded_bytes());
        let identity = Key::new("toolchain").with(key).with(Dependencies::digest_of(&dir)).all(words).finish();
        Ok(Self { flags, compiler, headers: headers.to_path_buf(), features, resources: resources.clone(), identity })
    }
}

/// Why a candidate is not taken.
enum Unfit {
    /// It cannot do it. Remembered.
    Rejected(String),
    /// It was ended before it could show: killed, too slow on a busy machine. Tried again the next time.
    Unsure(String),
    /// Something that ends the search.
    Error(CpuError),
}

impl From<CpuError> for Unfit {
    fn from(error: CpuError) -> Self {
        Self::Error(error)
    }
}

impl From<pto_store::Error> for Unfit {
    fn from(error: pto_store::Error) -> Self {
        Self::Error(error.into())
    }
}

/// A compiler is named by its file, size and time: asking its version each time would cost more than an unchanged build.
fn candidate_key(cx: &Context, candidate: &Candidate) -> Result<Key, String> {
    let key = Key::new("compiler").all(candidate.command.iter().map(|word| word.as_encoded_bytes()));
    // One that is not found says so itself when it is started.
    let Some(program) = find(cx, &candidate.command[0]) else { return Ok(key) };
    key.file(&program).map_err(|error| error.to_string())
}

/// Fills the configuration's entry: what the candidate is and has, or why it cannot be taken.
fn configure_in(
    cx: &Context,
    candidate: &Candidate,
    resources: &Resources,
    headers: &Path,
    dir: &Path,
) -> Result<(), Unfit> {
    let config = match try_candidate(cx, candidate, resources, headers, dir) {
        Ok(config) => config,
        Err(Unfit::Rejected(reason)) => Config::Unfit { reason },
        Err(error) => return Err(error),
    };
    // A compiler that fails early leaves no list of what it read; then its own path, size and time are all there is.
    let read = std::fs::read_to_string(dir.join(DEPFILE)).unwrap_or_default();
    // The probe's own output and copies lie in the directory that is being built and move with it.
    let outside = parse_depfile(&read).into_iter().filter(|path| !path.starts_with(dir) && path.is_file());
    Dependencies::read(outside).map_err(CpuError::Read)?.save(dir).map_err(CpuError::Write)?;
    let json = serde_json::to_vec(&config).map_err(|error| CpuError::Write(error.into()))?;
    fs_err::write(dir.join(CONFIG), json).map_err(CpuError::Write)?;
    Ok(())
}

fn try_candidate(
    cx: &Context,
    candidate: &Candidate,
    resources: &Resources,
    headers: &Path,
    dir: &Path,
) -> Result<Config, Unfit> {
    let compiler = Compiler::identify(cx, candidate).map_err(Unfit::Rejected)?;
    let task = format!("configure:{}", compiler.describe());
    let message = format!("Trying {} with PTO-ISA's CPU headers", compiler.describe());
    cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
    let mut flags = Flags::new(&compiler, resources, None, headers);
    let mut overlaid = 0;
    if let Err(reason) = base_probe(cx, &flags, resources, dir)? {
        overlaid = if compiler.family == Family::Gcc { overlay::write(headers, &dir.join(OVERLAY))? } else { 0 };
        flags = Flags::new(&compiler, resources, Some(&dir.join(OVERLAY)), headers);
        let second = if overlaid > 0 { base_probe(cx, &flags, resources, dir)? } else { Err(reason) };
        if let Err(reason) = second {
            cx.emit(Event::Finished { task, message: format!("{} does not take them: {reason}", compiler.describe()) });
            return Err(Unfit::Rejected(reason));
        }
    }
    let features = Features::probe(cx, &flags, &resources.path("probes"))?;
    let message = format!("{} works; these headers lack: {}", compiler.describe(), features.missing().join("; "));
    cx.emit(Event::Finished { task, message });
    Ok(Config::Fit { compiler, features, overlaid })
}

/// Compiles, links and runs a program over the headers. The inner error is what the compiler could not do.
fn base_probe(cx: &Context, flags: &Flags, resources: &Resources, dir: &Path) -> Result<Result<(), String>, Unfit> {
    let program = dir.join("probe");
    let invocation = flags
        .invocation()
        .args(["-w".into(), "-MD".into(), "-MF".into(), dir.join(DEPFILE).into_os_string()])
        .arg(resources.path("probes/base.cpp"))
        .args(["-o".into(), program.clone().into_os_string()]);
    let output = match flags.compiler.run(cx, invocation) {
        Err(CpuError::Process(pto_process::Error::Failed(output))) => {
            return Err(Unfit::Unsure(format!("the compiler {}", output.status)));
        }
        result => result?,
    };
    if !output.success() {
        let messages = Messages::of(&output).text();
        let first =
            messages.lines().find(|line| line.contains("error")).or(messages.lines().next()).unwrap_or_default();
        return Ok(Err(first.to_owned()));
    }
    if !program.is_file() {
        return Ok(Err("it ended well and made no program: it is no compiler".to_owned()));
    }
    let deadline = deadline(cx).map_err(CpuError::from)?;
    let run = Invocation::new(program).deadline_from(DEADLINE_VARIABLE, deadline).run(cx).map_err(CpuError::from)?;
    Ok(if run.success() { Ok(()) } else { Err(format!("a probe program compiled but {}", run.status)) })
}
