//! From the result of a run to its record.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::Context;
use pto_platform::{Soc, Target};

use super::bench::RecordedBench;
use super::digest;
use super::git::revision;
use super::model::{BlockDim, Commands, Digests, Dims, FileDigest, Record, RecordedCase, ToleranceUsed, TreeDigest};
use super::versions::versions;
use crate::cases::{Case, Cores, Origin, bind};
use crate::manifest::{Dim, Golden, Manifest};
use crate::run::{BuildReport, CaseResult, KernelResult, KernelStatus, LaunchReport, soc_for};

/// What a result does not say of its run.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// The verb: `test` or `bench`.
    pub verb: String,
    /// A command line that repeats the run.
    pub repeat: String,
    /// Whether all cases of the manifest were asked for.
    pub complete: bool,
    /// What a bench measured.
    pub bench: Option<RecordedBench>,
}

/// The record of one kernel's run.
///
/// # Errors
/// A source, a header or the library that was launched cannot be read any more.
pub fn record(
    cx: &Context,
    manifest: &Manifest,
    result: &KernelResult,
    circumstances: &Circumstances,
) -> io::Result<Record> {
    let ran = result.cases.iter().any(was_launched);
    let mut blocks: Vec<u32> = result.cases.iter().map(|case| case.block_dim).collect();
    blocks.sort_unstable();
    blocks.dedup();
    Ok(Record {
        schema: Record::SCHEMA.to_owned(),
        kernel: manifest.name.clone(),
        manifest: place(cx, &manifest.path),
        verb: circumstances.verb.clone(),
        written_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        target: result.target,
        soc: result.soc.map(str::to_owned),
        usual_soc: result.soc.is_none_or(|soc| usual_soc(manifest, result.target) == Some(soc)),
        mode: launches(result).find_map(|launch| launch.mode),
        path: result.launch.as_ref().map(|chosen| word(&chosen.path)),
        device: launches(result).find_map(|launch| launch.device),
        status: word(&result.status),
        passed: result.passed,
        // On a model the smallest case has to do unless others are asked for.
        complete: circumstances.complete
            && result.status != KernelStatus::Interrupted
            && result.launch.as_ref().is_none_or(|chosen| chosen.note.is_none()),
        commands: Commands {
            repeat: circumstances.repeat.clone(),
            compile: result.build.as_ref().map(compiled).unwrap_or_default(),
            launch: if ran { launched(manifest, result) } else { Vec::new() },
        },
        versions: versions(cx, result),
        dims: dims(manifest),
        block_dim: BlockDim { expression: manifest.launch.block_dim.source().to_owned(), values: blocks },
        tolerances: tolerances(manifest),
        repeats: result
            .cases
            .iter()
            .filter(|case| was_launched(case))
            .map(|case| case.repeats.completed)
            .min()
            .unwrap_or(0),
        cases: result.cases.iter().map(|case| recorded(manifest, result, case)).collect(),
        blockers: blockers(result),
        digests: digests(cx, manifest, result)?,
        git: revision(cx, &manifest.dir),
        bench: circumstances.bench.clone(),
    })
}

/// A status as JSON has it.
fn word(status: &impl serde::Serialize) -> String {
    serde_json::to_value(status).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

fn usual_soc(manifest: &Manifest, target: Target) -> Option<&'static str> {
    soc_for(manifest, target, None).ok().map(|soc| soc.name)
}

/// What assembled `.pto` sources, then what compiled.
fn compiled(build: &BuildReport) -> Vec<String> {
    let assembled = build.assembled.iter().map(|one| one.command.to_string());
    assembled.chain(build.commands.iter().cloned()).collect()
}

fn was_launched(case: &CaseResult) -> bool {
    case.is_verdict()
}

fn launches(result: &KernelResult) -> impl Iterator<Item = &LaunchReport> {
    result.cases.iter().filter_map(|case| case.launch.as_ref())
}

/// The call of the launcher, and what simulators were asked for it.
fn launched(manifest: &Manifest, result: &KernelResult) -> Vec<String> {
    let commands = launches(result).filter_map(|launch| Some(launch.simulation.as_ref()?.command.clone()));
    std::iter::once(call(manifest)).chain(commands).collect()
}

/// The call of the launcher, with names for values.
fn call(manifest: &Manifest) -> String {
    let symbol = match &manifest.entry {
        crate::manifest::Entry::Launcher(symbol) => symbol.clone(),
        crate::manifest::Entry::Global(name) => format!("launcher of {name}"),
    };
    let items: Vec<&str> = manifest.launch.signature.iter().map(|item| manifest.item_name(item)).collect();
    format!("{symbol}({})", items.join(", "))
}

fn dims(manifest: &Manifest) -> Dims {
    let fixed = |(name, dim): (&String, &Dim)| match dim {
        Dim::Static(length) => Some((name.clone(), *length)),
        Dim::Dynamic => None,
    };
    Dims {
        dynamic: manifest.dynamic_dims().map(str::to_owned).collect(),
        fixed: manifest.dims.iter().filter_map(fixed).collect(),
    }
}

fn tolerances(manifest: &Manifest) -> Vec<ToleranceUsed> {
    let used = manifest.outputs().map(|(arg, tensor)| {
        let rule = manifest.rule_of(&arg.name, tensor.dtype);
        ToleranceUsed {
            output: arg.name.clone(),
            dtype: tensor.dtype.to_string(),
            looser: rule.is_looser_than_default(tensor.dtype),
            rule: rule.to_string(),
            reason: manifest.tolerance.get(&arg.name).and_then(|given| given.spec.reason.clone()),
        }
    });
    used.collect()
}

fn recorded(manifest: &Manifest, result: &KernelResult, case: &CaseResult) -> RecordedCase {
    let reports = || case.outputs.values();
    RecordedCase {
        case: case.case.clone(),
        dims: case.dims.clone(),
        origin: case.origin.clone(),
        seed: case.seed,
        block_dim: case.block_dim,
        shapes: shapes(manifest, result, case).unwrap_or_default(),
        status: word(&case.status),
        message: case.message.clone(),
        worst_abs: reports().filter_map(|report| report.worst_abs.as_ref()?.error).reduce(f64::max),
        relative_rmse: reports().filter_map(|report| report.relative_rmse).reduce(f64::max),
        r2: reports().filter_map(|report| report.r2).reduce(f64::min),
        device_seconds: case.device_seconds,
    }
}

fn shapes(manifest: &Manifest, result: &KernelResult, case: &CaseResult) -> Option<BTreeMap<String, Vec<usize>>> {
    let soc = Soc::by_name(result.soc?).ok()?;
    let sizes = Case { dims: case.dims.clone(), origin: Origin::Asked, seed: case.seed };
    let bound = bind(manifest, &sizes, Cores::from(soc)).ok()?;
    Some(bound.tensors().map(|(name, tensor)| (name.to_owned(), tensor.shape.clone())).collect())
}

fn blockers(result: &KernelResult) -> Vec<String> {
    let problem = result.error.as_ref().filter(|_| result.status == KernelStatus::Blocked);
    problem.map(|problem| problem.message.clone()).into_iter().collect()
}

fn digests(cx: &Context, manifest: &Manifest, result: &KernelResult) -> io::Result<Digests> {
    let build = result.build.as_ref();
    let mut sources: Vec<FileDigest> = Vec::new();
    let read = build.map(|build| pto_compile::inputs_of(&build.library)).unwrap_or_default();
    let headers = build.map(|build| cx.cwd().join(&build.headers));
    let foreign = |path: &Path| path.starts_with("/usr") || headers.as_ref().is_some_and(|dir| path.starts_with(dir));
    let read = read.into_iter().map(|input| input.path).filter(|path| !foreign(path));
    for path in own_files(manifest)?.into_iter().chain(read) {
        let recorded = relative(cx, manifest, &path);
        if !sources.iter().any(|known| known.path == recorded) {
            sources.push(digest::file(&cx.cwd().join(&path), recorded)?);
        }
    }
    Ok(Digests {
        sources,
        headers: headers.as_deref().map(pto_tree).transpose()?,
        artifact: build.map(|build| digest::file(&build.library, build.library.clone())).transpose()?,
    })
}

/// CANN's include directory holds far more than PTO-ISA.
fn pto_tree(dir: &Path) -> io::Result<TreeDigest> {
    let own = dir.join("pto");
    digest::tree(if own.is_dir() { &own } else { dir })
}

/// The manifest, the sources, and what the golden is made from.
fn own_files(manifest: &Manifest) -> io::Result<Vec<PathBuf>> {
    let mut files = vec![manifest.path.clone()];
    files.extend(manifest.sources.iter().cloned());
    match &manifest.golden {
        Golden::Expr(_) => {}
        Golden::Command { argv, .. } => {
            files.extend(argv.iter().map(|word| manifest.dir.join(word)).filter(|path| path.is_file()));
        }
        Golden::Files(dir) if dir.is_dir() => {
            let mut found = Vec::new();
            for entry in fs_err::read_dir(dir)? {
                found.push(entry?.path());
            }
            found.retain(|path| path.is_file());
            found.sort();
            files.extend(found);
        }
        Golden::Files(_) => {}
    }
    Ok(files)
}

/// As it is kept: relative to the manifest's directory where it lies below it, so that a moved kernel is the same kernel.
fn relative(cx: &Context, manifest: &Manifest, path: &Path) -> PathBuf {
    let (dir, path) = (place(cx, &manifest.dir), place(cx, path));
    path.strip_prefix(&dir).map(Path::to_path_buf).unwrap_or(path)
}

/// One path for a file, however it was named.
pub fn place(cx: &Context, path: &Path) -> PathBuf {
    let path = cx.cwd().join(path);
    fs_err::canonicalize(&path).unwrap_or(path)
}
