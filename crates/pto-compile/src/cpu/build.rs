//! One kernel, from its sources to a library that can be loaded.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::{Context, in_parallel};
use pto_store::Store;

use super::error::CpuError;
use super::job::{COMMANDS, Job, WARNINGS};
use super::precompiled::Precompiled;
use super::request::KernelRequest;
use super::runtime;
use super::side::SideFlags;
use super::source::Source;
use super::toolchain::Toolchain;
use crate::deps::Dependencies;
use crate::key::Key;

/// A built kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The library that holds the launcher. Everything it needs lies beside it.
    pub library: PathBuf,
    /// Whether it was in the store already.
    pub cached: bool,
    /// How long it took to get it.
    pub duration: Duration,
    /// What the compiler warned of.
    pub warnings: String,
    /// The command lines that made it, as they can be pasted into a shell. Those of a build that is in the store already
    /// ran then; paths in them are of that build.
    pub commands: Vec<String>,
}

/// Builds a kernel, unless `artifacts` has it for exactly these sources, headers, flags and this compiler. What all kernels
/// share (the runtime, the precompiled prelude) is in `shared`; both may be one store.
///
/// # Errors
/// See [`CpuError`]; [`CpuError::is_the_kernels`] tells the kernel's faults from the machine's.
pub fn build(
    cx: &Context,
    shared: &Store,
    artifacts: &Store,
    toolchain: &Toolchain,
    request: &KernelRequest,
) -> Result<Artifact, CpuError> {
    let start = Instant::now();
    let sources = load_sources(cx, request)?;
    let sides = SideFlags::of(request, toolchain);
    let runtime = runtime::library(cx, shared, toolchain)?;
    let precompiled = in_parallel(&sides, None, |side| match request.precompiled {
        true => Precompiled::get(cx, shared, toolchain, side),
        false => Ok(Precompiled::text(toolchain)),
    })?;
    let key = key(toolchain, request, &sides, &precompiled, &sources);
    let entry = artifacts.entry("cpu-kernel", &key)?;
    // A header that no include in the text names, such as one of the system's, may have changed.
    if let Some(dir) = Dependencies::get_fresh(cx, &entry)? {
        return Ok(artifact(&dir, request, true, start));
    }
    let job = Job {
        cx,
        toolchain,
        request,
        sources: &sources,
        sides: &sides,
        precompiled: &precompiled,
        runtime: &runtime,
        key: &key,
    };
    match entry.get_or_build(cx, |dir| job.run(dir)) {
        Ok(dir) => Ok(artifact(&dir, request, false, start)),
        // Someone has emptied the store under us: what went missing is made again.
        Err(CpuError::Compile { .. } | CpuError::Link { .. } | CpuError::Read(_) | CpuError::Write(_))
            if job.lost_its_parts() =>
        {
            build(cx, shared, artifacts, toolchain, request)
        }
        Err(error) => Err(error),
    }
}

fn artifact(dir: &Path, request: &KernelRequest, cached: bool, start: Instant) -> Artifact {
    let warnings = std::fs::read_to_string(dir.join(WARNINGS)).unwrap_or_default();
    let commands = std::fs::read(dir.join(COMMANDS)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    Artifact {
        library: dir.join(format!("lib{}.so", request.name)),
        cached,
        duration: start.elapsed(),
        warnings,
        commands: commands.unwrap_or_default(),
    }
}

fn load_sources(cx: &Context, request: &KernelRequest) -> Result<Vec<Source>, CpuError> {
    let files = request.sources.iter().map(|path| Source::load(path, cx.cwd(), &request.include_dirs));
    let mut sources = files.collect::<Result<Vec<_>, _>>()?;
    for (name, text) in &request.generated {
        let dirs = sources.iter().flat_map(|source| source.quote_dirs.clone()).collect();
        sources.push(Source::generated(Path::new(name), text, dirs, &request.include_dirs)?);
    }
    Ok(sources)
}

fn key(
    toolchain: &Toolchain,
    request: &KernelRequest,
    sides: &[SideFlags],
    precompiled: &[Precompiled],
    sources: &[Source],
) -> String {
    let KernelRequest {
        name,
        sources: _,
        generated: _,
        core: _,
        soc: _,
        defines,
        include_dirs,
        opt_level: _,
        precompiled: _,
        extra_flags: _,
    } = request;
    let defines = defines.iter().map(|(name, value)| format!("{name}={value:?}"));
    let mut key = Key::new("kernel").with(&toolchain.identity).with(name).all(defines);
    key = include_dirs.iter().fold(key, |key, dir| key.path(dir));
    key = sides.iter().fold(key, |key, side| key.all(side.args()));
    key = precompiled.iter().fold(key, |key, pch| key.with(&pch.digest));
    sources.iter().fold(key, |key, source| source.add_to(key)).finish()
}
