//! `.pto` sources: assembled to C++, which then is compiled like any other source.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use pto_context::{Context, Event};
use pto_platform::{Soc, Target};
use pto_ptoas::{AssembleError, AssembleOptions, Assembler, PtoArch};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::RunError;
use super::workshop::Setup;
use crate::hex::hex;
use crate::lint::{Rule, Subject, lint_source};
use crate::manifest::Manifest;
use crate::source::Source;

/// The kind of the entries in the store of a workspace's kernels.
const KIND: &str = "ptoas";
/// The command that made an entry, in it.
const COMMAND: &str = "command.txt";

/// A `.pto` source and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assembled {
    /// The user's source.
    pub source: PathBuf,
    /// The C++ that was generated from it.
    pub generated: PathBuf,
    /// What assembled it.
    pub ptoas: Assembler,
    /// How.
    pub options: AssembleOptions,
    /// The command line that made it.
    pub command: String,
}

/// A kernel whose `.pto` sources are replaced by what they were assembled to, and what that was.
pub(super) struct Assembly {
    pub(super) manifest: Manifest,
    pub(super) assembled: Vec<Assembled>,
}

/// Assembles the `.pto` sources of a kernel; `None` for one that has none. What was assembled before, by the same assembler
/// in the same way, is taken from the store.
pub(super) fn assemble(
    cx: &Context,
    setup: &Setup,
    manifest: &Manifest,
    target: Target,
    soc: &Soc,
) -> Result<Option<Assembly>, RunError> {
    if !manifest.has_assembly() {
        return Ok(None);
    }
    // The CPU plays a SoC, and what is assembled is for that one.
    let target = if target == Target::Cpu { soc.target().unwrap_or(target) } else { target };
    let arch = PtoArch::of(target).ok_or(RunError::NoSoc { target })?;
    let options = AssembleOptions { arch, level: manifest.ptoas.level, insert_sync: manifest.ptoas.insert_sync };
    let ptoas = Assembler::used(cx)?;
    let mut manifest = manifest.clone();
    let mut assembled = Vec::new();
    for source in manifest.sources.iter_mut().filter(|source| Manifest::is_assembly(source)) {
        let one = assemble_one(cx, setup, &ptoas, source, options)?;
        warn(cx, &one, target);
        source.clone_from(&one.generated);
        assembled.push(one);
    }
    Ok(Some(Assembly { manifest, assembled }))
}

fn assemble_one(
    cx: &Context,
    setup: &Setup,
    ptoas: &Assembler,
    source: &Path,
    options: AssembleOptions,
) -> Result<Assembled, RunError> {
    let name = source.with_extension("cpp").file_name().map(PathBuf::from).unwrap_or_default();
    let key = key(cx, ptoas, source, options).map_err(AssembleError::Read)?;
    let dir = setup.artifacts.entry(KIND, &key)?.get_or_build(cx, |dir| {
        let task = format!("assemble:{}", name.display());
        let message = format!("Assembling {} with ptoas {}", source.display(), ptoas.version);
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let command = ptoas.assemble(cx, source, options, &dir.join(&name))?;
        fs_err::write(dir.join(COMMAND), command).map_err(RunError::Io)?;
        cx.emit(Event::Finished { task, message: format!("Assembled {}", source.display()) });
        Ok::<(), RunError>(())
    })?;
    let command = fs_err::read_to_string(dir.join(COMMAND)).map_err(RunError::Io)?;
    let (source, generated) = (source.to_path_buf(), dir.join(name));
    Ok(Assembled { source, generated, ptoas: ptoas.clone(), options, command })
}

/// Everything that the result depends on. Another build of the assembler may say the same version: its size and time count.
fn key(cx: &Context, ptoas: &Assembler, source: &Path, options: AssembleOptions) -> std::io::Result<String> {
    let launcher = fs_err::metadata(&ptoas.path)?;
    let modified = launcher.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(ptoas.path.as_os_str().as_encoded_bytes());
    add(ptoas.version.as_bytes());
    add(&launcher.len().to_le_bytes());
    add(&modified.as_nanos().to_le_bytes());
    add(format!("{options:?}").as_bytes());
    add(source.as_os_str().as_encoded_bytes());
    add(&crate::read::regular(&cx.cwd().join(source))?);
    Ok(hex(&hash.finalize()[..16]))
}

/// A macro that takes a pipe's name hides a hang; assemblers have written some.
fn warn(cx: &Context, one: &Assembled, target: Target) {
    let Ok(generated) = Source::read(&one.generated) else { return };
    let subject = Subject { targets: vec![target], core: None };
    let hides = lint_source(&generated, &subject).into_iter().filter(|finding| finding.rule == Rule::PipeMacro);
    for finding in hides {
        let (path, reason) = (finding.path.display(), finding.reason);
        let message = format!("{path}:{}: generated code: {}: {reason}", finding.line, finding.message);
        cx.emit(Event::Warning { message });
    }
}
