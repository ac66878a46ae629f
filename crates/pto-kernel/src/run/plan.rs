//! What bisheng is asked to do for a kernel, as values: nothing is run and nothing is written.

use std::path::PathBuf;

use pto_compile::bisheng::{BishengRequest, CompileOptions, kernel_plan};
use pto_compile::cann;
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::Target;
use serde::Serialize;

use super::assembly::assemble;
use super::error::RunError;
use super::input::{CompileInput, defines};
use super::workshop::Setup;
use crate::manifest::Manifest;

/// How a kernel is built for an NPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelPlan {
    /// The launcher's symbol in what is built.
    pub symbol: String,
    /// What is built.
    pub library: PathBuf,
    /// The commands.
    #[serde(flatten)]
    pub plan: Plan,
}

/// What bisheng would be asked to do, on a machine with or without it. `.pto` sources are assembled for that: what there is
/// to compile depends on what comes out.
///
/// # Errors
/// The manifest and its sources do not fit together, or a path cannot be put on a command line.
pub fn plan_kernel(cx: &Context, setup: &Setup, manifest: &Manifest, target: Target) -> Result<KernelPlan, RunError> {
    let soc = target.default_soc().ok_or(RunError::NoSoc { target })?;
    let assembly = assemble(cx, setup, manifest, target, soc)?;
    let manifest = assembly.as_ref().map_or(manifest, |assembly| &assembly.manifest);
    let sources = manifest.read_sources()?;
    let input = CompileInput::new(manifest, &sources)?;
    let out_dir = setup.artifacts.root().join("bisheng").join(target.name()).join(&manifest.name);
    let request = BishengRequest { out_dir, ..request(cx, manifest, target, &input) };
    let toolchain = cann::Toolchain::assume(cx, &setup.cann());
    let mut plan = kernel_plan(cx, &request, &toolchain)?;
    let assembled = assembly.iter().flat_map(|assembly| &assembly.assembled);
    plan.notes.extend(assembled.map(|one| format!("assembled `{}`: {}", one.source.display(), one.command)));
    Ok(KernelPlan { symbol: input.symbol, library: request.library().path(), plan })
}

/// What bisheng is asked for a kernel. Where outputs go, the caller knows.
pub(super) fn request(cx: &Context, manifest: &Manifest, target: Target, input: &CompileInput<'_>) -> BishengRequest {
    let file = |launcher: &crate::launcher::GeneratedLauncher<'_>| {
        (format!("{}.cpp", launcher.symbol), launcher.including(&cx.cwd().join(launcher.source.path())))
    };
    let options = CompileOptions {
        defines: defines(manifest),
        include_dirs: vec![manifest.dir.clone()],
        ..CompileOptions::default()
    };
    BishengRequest {
        target,
        core: manifest.core,
        name: manifest.name.clone(),
        sources: input.sources.clone(),
        generated: input.launcher.iter().map(file).collect(),
        launcher: None,
        out_dir: PathBuf::new(),
        options,
    }
}
