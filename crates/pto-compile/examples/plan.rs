//! Prints how bisheng would build a kernel, on any machine: `cargo run -p pto-compile --example plan -- a5 mix k.cpp`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example is a program")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use pto_compile::bisheng::{BishengRequest, CompileOptions, kernel_plan};
use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_context::{Context, Silent};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [target, core, sources @ ..] = args.as_slice() else {
        return Err("usage: plan TARGET CORE SOURCE...".into());
    };
    let cx = Context::from_process(Arc::new(Silent))?;
    let stem = sources.first().and_then(|source| Path::new(source).file_stem());
    let request = BishengRequest {
        target: target.parse()?,
        core: core.parse()?,
        name: stem.unwrap_or_default().to_string_lossy().into_owned(),
        sources: sources.iter().map(PathBuf::from).collect(),
        generated: Vec::new(),
        launcher: None,
        out_dir: "target/pto".into(),
        options: CompileOptions::default(),
    };
    let toolchain = Toolchain::assume(&cx, &ToolchainOptions::default());
    for line in toolchain.report() {
        eprintln!("{line}");
    }
    print!("{}", kernel_plan(&cx, &request, &toolchain)?.to_shell());
    Ok(())
}
