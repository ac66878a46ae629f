//! From a manifest to a library, for each target.

use std::path::{Path, PathBuf};
use std::time::Instant;

use object::{Object, ObjectSymbol};
use pto_compile::bisheng::{BishengRequest, CompileOptions, kernel_plan};
use pto_compile::cann::{self, ToolchainOptions};
use pto_compile::cpu::{self, KernelRequest};
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::{Soc, Target};

use super::error::RunError;
use super::report::BuildReport;
use super::workshop::{Setup, Workshop};
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
    for source in &sources {
        check_signature(manifest, &declared_launchers(source)).map_err(KernelError::from)?;
    }
    let built = match target {
        Target::Cpu => build_for_cpu(cx, workshop, manifest, soc, &sources)?,
        npu => build_with_bisheng(cx, &workshop.setup, manifest, npu, &sources)?,
    };
    check_symbol(&built)?;
    Ok(built)
}

fn build_for_cpu(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    soc: &'static Soc,
    sources: &[Source],
) -> Result<Built, RunError> {
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
        opt_level: workshop.setup.opt_level,
        extra_flags: Vec::new(),
    };
    let artifact = cpu::build(cx, &workshop.setup.shared, &workshop.setup.artifacts, &workshop.toolchain, &request)?;
    let report = BuildReport {
        library: artifact.library.clone(),
        cached: artifact.cached,
        seconds: artifact.duration.as_secs_f64(),
        compiler: workshop.toolchain.compiler.describe(),
        headers: workshop.headers.dir.clone(),
        warnings: artifact.warnings,
    };
    let symbol = launcher.map_or_else(|| entry_symbol(manifest), |launcher| launcher.symbol);
    Ok(Built { library: artifact.library, symbol, report })
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
    let out_dir = setup.artifacts.root().join("bisheng").join(target.name()).join(&manifest.name);
    let (plan, symbol) = plan_in(cx, manifest, target, &toolchain, &out_dir, sources)?;
    plan.run(cx)?;
    let library = plan.artifact().map(Path::to_path_buf).unwrap_or_default();
    let report = BuildReport {
        library: library.clone(),
        cached: false,
        seconds: start.elapsed().as_secs_f64(),
        compiler: toolchain.bisheng.path.display().to_string(),
        headers: toolchain.pto_headers.path.clone(),
        warnings: String::new(),
    };
    Ok(Built { library, symbol, report })
}

/// What bisheng would be asked to do, on a machine with or without it.
///
/// # Errors
/// The manifest and its sources do not fit together, or a path cannot be put on a command line.
pub fn plan_kernel(cx: &Context, setup: &Setup, manifest: &Manifest, target: Target) -> Result<Plan, RunError> {
    let options = ToolchainOptions { cann: None, pto_headers: setup.pto_isa.clone() };
    let toolchain = cann::Toolchain::assume(cx, &options);
    let out_dir = setup.artifacts.root().join("bisheng").join(target.name()).join(&manifest.name);
    let sources = manifest.read_sources()?;
    Ok(plan_in(cx, manifest, target, &toolchain, &out_dir, &sources)?.0)
}

fn plan_in(
    cx: &Context,
    manifest: &Manifest,
    target: Target,
    toolchain: &cann::Toolchain,
    out_dir: &Path,
    sources: &[Source],
) -> Result<(Plan, String), RunError> {
    let mut files = manifest.sources.clone();
    let launcher = generate(manifest, sources)?;
    if let Some(launcher) = &launcher {
        let file = out_dir.join(format!("{}.cpp", launcher.symbol));
        fs_err::create_dir_all(out_dir).map_err(RunError::Io)?;
        fs_err::write(&file, launcher.including(&cx.cwd().join(&launcher.source))).map_err(RunError::Io)?;
        files.retain(|source| *source != launcher.source);
        files.push(file);
    }
    let options = CompileOptions {
        defines: defines(manifest),
        include_dirs: vec![manifest.dir.clone()],
        ..CompileOptions::default()
    };
    let request = BishengRequest {
        target,
        core: manifest.core,
        name: manifest.name.clone(),
        sources: files,
        launcher: None,
        out_dir: out_dir.to_path_buf(),
        options,
    };
    let symbol = launcher.map_or_else(|| entry_symbol(manifest), |launcher| launcher.symbol);
    Ok((kernel_plan(cx, &request, toolchain)?, symbol))
}

/// The symbol a manifest's launcher has.
///
/// # Errors
/// The launcher has to be generated and cannot be.
pub fn launch_symbol(manifest: &Manifest) -> Result<String, RunError> {
    Ok(match generate(manifest, &manifest.read_sources()?)? {
        Some(launcher) => launcher.symbol,
        None => entry_symbol(manifest),
    })
}

fn entry_symbol(manifest: &Manifest) -> String {
    match &manifest.entry {
        Entry::Launcher(symbol) | Entry::Global(symbol) => symbol.clone(),
    }
}

fn defines(manifest: &Manifest) -> Vec<(String, Option<String>)> {
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
