//! The host program of a case, linked with CANN's model.

use std::path::{Path, PathBuf};

use pto_compile::bisheng::{
    CompileOptions, HostProgramRequest, HostRuntime, KernelLibrary, Simulator as Camodel, host_program_plan,
};
use pto_compile::cann::Toolchain;
use pto_compile::plan::RunError as PlanError;
use pto_context::Context;
use pto_launch::{LaunchRequest, host_program};
use pto_platform::Target;

use crate::manifest::Manifest;
use crate::run::error::RunError;
use crate::run::workshop::Workshop;

/// Writes and builds the program in a directory of its own, where it stays to be run by hand. Small as it is, it is built
/// each time: its text holds the values of the case.
pub(super) fn build(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    camodel: &Camodel,
    request: &LaunchRequest,
    dir: &Path,
) -> Result<PathBuf, RunError> {
    let toolchain = Toolchain::find(cx, &workshop.setup.cann())?;
    fs_err::create_dir_all(dir).map_err(RunError::Io)?;
    let source = dir.join("main.cpp");
    fs_err::write(&source, host_program(request)).map_err(RunError::Io)?;
    let library = cx.cwd().join(&request.library);
    let kernels = library.parent().unwrap_or(Path::new("/")).to_path_buf();
    let host = HostProgramRequest {
        target: Target::A5,
        name: format!("run_{}", manifest.name),
        sources: vec![source],
        kernel: Some(KernelLibrary { dir: kernels, name: manifest.name.clone() }),
        runtime: HostRuntime::CaModel(camodel.clone()),
        out_dir: dir.to_path_buf(),
        options: CompileOptions::default(),
    };
    let plan = host_program_plan(cx, &host, &toolchain).map_err(PlanError::from)?;
    plan.run(cx)?;
    Ok(dir.join(&host.name))
}
