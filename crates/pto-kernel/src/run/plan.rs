//! What bisheng is asked to do for a kernel, as values: nothing is run and nothing is written.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_compile::bisheng::{BishengRequest, CompileOptions, kernel_plan};
use pto_compile::cann::{self, ToolchainOptions};
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::Target;
use serde::Serialize;

use super::build::{defines, entry_symbol};
use super::error::RunError;
use super::workshop::Setup;
use crate::launcher::generate;
use crate::manifest::Manifest;
use crate::source::Source;

/// How a kernel is built for an NPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelPlan {
    /// The launcher's symbol in what is built.
    pub symbol: String,
    /// Files that have to be there before the first command.
    pub generated: Vec<GeneratedFile>,
    /// The commands.
    #[serde(flatten)]
    pub plan: Plan,
}

/// A file that ptokit writes for a build: the launcher of a kernel that has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GeneratedFile {
    /// Where it goes.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

impl KernelPlan {
    /// All of it as text that can be pasted into a POSIX shell.
    pub fn to_shell(&self) -> String {
        let mut text = String::new();
        for file in &self.generated {
            let word = |path: &std::path::Path| {
                let path = path.to_string_lossy();
                shlex::try_quote(&path).map_or_else(|_| path.to_string(), std::borrow::Cow::into_owned)
            };
            if let Some(dir) = file.path.parent() {
                let _ = writeln!(text, "mkdir -p -- {}", word(dir));
            }
            // Quoted, so that the shell leaves the text as it is; no C++ line is the end mark.
            let _ = writeln!(text, "# write the launcher\ncat > {} <<'END_OF_LAUNCHER'", word(&file.path));
            let _ = writeln!(text, "{}\nEND_OF_LAUNCHER", file.text.trim_end());
        }
        text + &self.plan.to_shell()
    }

    pub(super) fn write_generated(&self) -> std::io::Result<()> {
        for file in &self.generated {
            if let Some(dir) = file.path.parent() {
                fs_err::create_dir_all(dir)?;
            }
            fs_err::write(&file.path, &file.text)?;
        }
        Ok(())
    }
}

/// What bisheng would be asked to do, on a machine with or without it.
///
/// # Errors
/// The manifest and its sources do not fit together, or a path cannot be put on a command line.
pub fn plan_kernel(cx: &Context, setup: &Setup, manifest: &Manifest, target: Target) -> Result<KernelPlan, RunError> {
    let options = ToolchainOptions { cann: None, pto_headers: setup.pto_isa.clone() };
    let toolchain = cann::Toolchain::assume(cx, &options);
    let sources = manifest.read_sources()?;
    super::build::check_signatures(manifest, &sources)?;
    with(cx, setup, manifest, target, &toolchain, &sources)
}

pub(super) fn with(
    cx: &Context,
    setup: &Setup,
    manifest: &Manifest,
    target: Target,
    toolchain: &cann::Toolchain,
    sources: &[Source],
) -> Result<KernelPlan, RunError> {
    let out_dir = setup.artifacts.root().join("bisheng").join(target.name()).join(&manifest.name);
    let mut files = manifest.sources.clone();
    let mut generated = Vec::new();
    let launcher = generate(manifest, sources)?;
    if let Some(launcher) = &launcher {
        let path = out_dir.join(format!("{}.cpp", launcher.symbol));
        files.retain(|source| *source != launcher.source);
        files.push(path.clone());
        generated.push(GeneratedFile { path, text: launcher.including(&cx.cwd().join(&launcher.source)) });
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
        out_dir,
        options,
    };
    let symbol = launcher.map_or_else(|| entry_symbol(manifest), |launcher| launcher.symbol);
    Ok(KernelPlan { symbol, generated, plan: kernel_plan(cx, &request, toolchain)? })
}
