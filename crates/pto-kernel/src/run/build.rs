//! From a manifest to a library, for each target.

use std::path::{Path, PathBuf};

use pto_compile::artifact::Artifact;
use pto_compile::cpu::{self, KernelRequest};
use pto_compile::plan::Step;
use pto_compile::{bisheng, cann};
use pto_context::Context;
use pto_platform::{Soc, Target};

use super::assembly::assemble;
use super::error::RunError;
use super::input::{CompileInput, defines};
use super::kernel_result::BuildReport;
use super::plan;
use super::workshop::{CpuTools, Setup, Tools, Workshop};
use crate::manifest::Manifest;

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

/// Builds a kernel for the workshop's target.
///
/// # Errors
/// See [`RunError::fault`].
pub fn build_kernel(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    soc: &'static Soc,
) -> Result<Built, RunError> {
    let assembly = assemble(cx, &workshop.setup, manifest, workshop.target(), soc)?;
    let manifest = assembly.as_ref().map_or(manifest, |assembly| &assembly.manifest);
    let sources = manifest.read_sources()?;
    let input = CompileInput::new(manifest, &sources)?;
    let mut report = match &workshop.tools {
        Tools::Cpu(tools) => build_for_cpu(
            cx,
            &workshop.setup,
            tools,
            &request_for_cpu(manifest, soc, workshop.setup.opt_level, &input),
        )?,
        Tools::Bisheng(target) => build_with_bisheng(cx, &workshop.setup, manifest, *target, &input)?,
    };
    check_symbol(&report.library, &input.symbol)?;
    let symbol = input.symbol;
    report.assembled = assembly.map(|assembly| assembly.assembled).unwrap_or_default();
    report.commands.splice(0..0, report.assembled.iter().map(|one| one.command.clone()));
    Ok(Built { library: report.library.clone(), symbol, report })
}

fn build_for_cpu(
    cx: &Context,
    setup: &Setup,
    tools: &CpuTools,
    request: &KernelRequest,
) -> Result<BuildReport, RunError> {
    let artifact = cpu::build(cx, &setup.shared, &setup.artifacts, &tools.toolchain, request)?;
    Ok(BuildReport {
        library: artifact.library,
        cached: artifact.cached,
        seconds: artifact.duration.as_secs_f64(),
        compiler: tools.toolchain.compiler.describe(),
        headers: tools.headers.dir.clone(),
        warnings: artifact.warnings,
        assembled: Vec::new(),
        commands: artifact.commands,
    })
}

/// What the CPU back end is asked for a kernel without `.pto` sources.
///
/// # Errors
/// A source cannot be read or does not fit the manifest, or the launcher has to be generated and cannot be.
pub fn cpu_request(manifest: &Manifest, soc: &'static Soc, opt_level: u8) -> Result<KernelRequest, RunError> {
    let sources = manifest.read_sources()?;
    Ok(request_for_cpu(manifest, soc, opt_level, &CompileInput::new(manifest, &sources)?))
}

fn request_for_cpu(manifest: &Manifest, soc: &'static Soc, opt_level: u8, input: &CompileInput<'_>) -> KernelRequest {
    let generated = input.launcher.iter().map(|launcher| {
        let path = launcher.source.path();
        (path.display().to_string(), launcher.appended_to_source())
    });
    KernelRequest {
        generated: generated.collect(),
        defines: defines(manifest),
        include_dirs: vec![manifest.dir.clone()],
        opt_level,
        ..KernelRequest::new(&manifest.name, input.sources.clone(), manifest.core, soc)
    }
}

/// CANN is looked for only now: other kernels may need none of it, and each says for itself what it lacks.
fn build_with_bisheng(
    cx: &Context,
    setup: &Setup,
    manifest: &Manifest,
    target: Target,
    input: &CompileInput<'_>,
) -> Result<BuildReport, RunError> {
    let toolchain = cann::Toolchain::find(cx, &setup.cann())?;
    let request = plan::request(cx, manifest, target, input);
    let built = bisheng::build(cx, &setup.artifacts, &toolchain, &request)?;
    let out_dir = built.library.parent().map(Path::to_path_buf).unwrap_or_default();
    let plan = bisheng::kernel_plan(cx, &bisheng::BishengRequest { out_dir, ..request }, &toolchain)?;
    Ok(BuildReport {
        library: built.library,
        cached: built.cached,
        seconds: built.duration.as_secs_f64(),
        compiler: toolchain.bisheng.path.display().to_string(),
        headers: toolchain.pto_headers.path,
        warnings: String::new(),
        assembled: Vec::new(),
        commands: plan.steps.iter().map(Step::to_shell).collect(),
    })
}

/// Before a worker is started: a wrong name is answered with those that exist.
fn check_symbol(library: &Path, symbol: &str) -> Result<(), RunError> {
    let artifact = Artifact::read(library)
        .map_err(|error| RunError::Unreadable { library: library.to_path_buf(), reason: error.to_string() })?;
    if artifact.exports.iter().any(|export| export.symbol == symbol) {
        return Ok(());
    }
    // Mangled names are those of C++ functions, which no launcher has.
    let exported = artifact.exports.into_iter().filter(|export| export.signature.is_none());
    let exported = exported.map(|export| export.symbol).collect();
    Err(RunError::NoSymbol { symbol: symbol.to_owned(), exported })
}
