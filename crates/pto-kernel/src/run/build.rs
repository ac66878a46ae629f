//! From a manifest to a library, for each target.

use std::path::{Path, PathBuf};
use std::time::Instant;

use object::{Object, ObjectSymbol};
use pto_compile::cann::{self, ToolchainOptions};
use pto_compile::cpu::{self, KernelRequest};
use pto_context::Context;
use pto_platform::{Soc, Target};

use super::error::RunError;
use super::plan;
use super::report::BuildReport;
use super::workshop::{CpuTools, Setup, Workshop};
use crate::KernelError;
use crate::launcher::generate;
use crate::manifest::{Entry, Manifest};
use crate::signature::{check_signature, declared_launchers};
use crate::source::Source;

/// A library with its launcher.
#[derive(Debug, Clone)]
pub struct Built {
    /// The library.
    pub library: PathBuf,
    /// The launcher's symbol in it.
    pub symbol: String,
    /// How it was built.
    pub report: BuildReport,
}

/// Builds a kernel for a target.
///
/// # Errors
/// See [`RunError::fault`].
pub fn build_kernel(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    target: Target,
    soc: &'static Soc,
) -> Result<Built, RunError> {
    let sources = manifest.read_sources()?;
    check_signatures(manifest, &sources)?;
    let built = match target {
        Target::Cpu => {
            let tools = workshop.cpu.clone().map_or_else(|| CpuTools::find(cx, &workshop.setup), Ok)?;
            build_for_cpu(cx, &workshop.setup, &tools, manifest, soc, &sources)?
        }
        npu => build_with_bisheng(cx, &workshop.setup, manifest, npu, &sources)?,
    };
    check_symbol(&built)?;
    Ok(built)
}

pub(super) fn check_signatures(manifest: &Manifest, sources: &[Source]) -> Result<(), KernelError> {
    sources.iter().try_for_each(|source| Ok(check_signature(manifest, &declared_launchers(source))?))
}

fn build_for_cpu(
    cx: &Context,
    setup: &Setup,
    tools: &CpuTools,
    manifest: &Manifest,
    soc: &'static Soc,
    sources: &[Source],
) -> Result<Built, RunError> {
    let (request, symbol) = request_for_cpu(setup, manifest, soc, sources)?;
    let artifact = cpu::build(cx, &setup.shared, &setup.artifacts, &tools.toolchain, &request)?;
    let report = BuildReport {
        library: artifact.library.clone(),
        cached: artifact.cached,
        seconds: artifact.duration.as_secs_f64(),
        compiler: tools.toolchain.compiler.describe(),
        headers: tools.headers.dir.clone(),
        warnings: artifact.warnings,
    };
    Ok(Built { library: artifact.library, symbol, report })
}

/// What the CPU back end is asked for a kernel.
///
/// # Errors
/// A source cannot be read, or the launcher has to be generated and cannot be.
pub fn cpu_request(setup: &Setup, manifest: &Manifest, soc: &'static Soc) -> Result<KernelRequest, RunError> {
    Ok(request_for_cpu(setup, manifest, soc, &manifest.read_sources()?)?.0)
}

/// The request, and the launcher's symbol.
fn request_for_cpu(
    setup: &Setup,
    manifest: &Manifest,
    soc: &'static Soc,
    sources: &[Source],
) -> Result<(KernelRequest, String), RunError> {
    let mut files = manifest.sources.clone();
    let mut generated = Vec::new();
    let launcher = generate(manifest, sources)?;
    if let Some(launcher) = &launcher {
        // The launcher needs the kernel's definition in its translation unit: that source is compiled with it behind.
        let source = sources
            .iter()
            .find(|source| source.path() == launcher.source)
            .ok_or_else(|| RunError::NoSymbol { symbol: launcher.symbol.clone(), exported: Vec::new() })?;
        files.retain(|file| *file != launcher.source);
        generated.push((launcher.source.display().to_string(), launcher.appended_to(source.text(), source.path())));
    }
    let request = KernelRequest {
        name: manifest.name.clone(),
        sources: files,
        generated,
        core: manifest.core,
        soc,
        defines: defines(manifest),
        include_dirs: vec![manifest.dir.clone()],
        opt_level: setup.opt_level,
        precompiled: true,
        extra_flags: Vec::new(),
    };
    Ok((request, launcher.map_or_else(|| entry_symbol(manifest), |launcher| launcher.symbol)))
}

fn build_with_bisheng(
    cx: &Context,
    setup: &Setup,
    manifest: &Manifest,
    target: Target,
    sources: &[Source],
) -> Result<Built, RunError> {
    let start = Instant::now();
    let options = ToolchainOptions { cann: None, pto_headers: setup.pto_isa.clone() };
    let toolchain = cann::Toolchain::find(cx, &options)?;
    let planned = plan::with(cx, setup, manifest, target, &toolchain, sources)?;
    planned.write_generated().map_err(RunError::Io)?;
    planned.plan.run(cx)?;
    let library = planned.plan.artifact().map(Path::to_path_buf).unwrap_or_default();
    let report = BuildReport {
        library: library.clone(),
        cached: false,
        seconds: start.elapsed().as_secs_f64(),
        compiler: toolchain.bisheng.path.display().to_string(),
        headers: toolchain.pto_headers.path.clone(),
        warnings: String::new(),
    };
    Ok(Built { library, symbol: planned.symbol, report })
}

pub(super) fn entry_symbol(manifest: &Manifest) -> String {
    match &manifest.entry {
        Entry::Launcher(symbol) | Entry::Global(symbol) => symbol.clone(),
    }
}

pub(super) fn defines(manifest: &Manifest) -> Vec<(String, Option<String>)> {
    manifest.defines().into_iter().map(|(name, value)| (name, Some(value.to_string()))).collect()
}

/// Before a worker is started: a wrong name is answered with those that exist.
fn check_symbol(built: &Built) -> Result<(), RunError> {
    let unreadable = |reason: String| RunError::Unreadable { library: built.library.clone(), reason };
    let bytes = fs_err::read(&built.library).map_err(|error| unreadable(error.to_string()))?;
    let file = object::File::parse(&*bytes).map_err(|error| unreadable(error.to_string()))?;
    let functions =
        file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text);
    let names: Vec<String> = functions.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    if names.contains(&built.symbol) {
        return Ok(());
    }
    // Mangled names are those of C++ functions, which no launcher has.
    let mut exported: Vec<String> = names.into_iter().filter(|name| !name.starts_with('_')).collect();
    exported.sort();
    Err(RunError::NoSymbol { symbol: built.symbol.clone(), exported })
}
