//! `kernel bind`: a Python package for a kernel.

use std::path::PathBuf;

use pto_context::with_causes;
use pto_kernel::Manifest;
use pto_kernel::bind::{BindError, BindRequest, BuildTools, build, generate, refuse_taken};
use pto_kernel::cases::{Cores, derive};
use pto_kernel::run::{DEFAULT_SEED, build_kernel, soc_for};
use pto_launch::host_acl;
use pto_platform::{Soc, Target};
use serde::Serialize;

use super::select::select;
use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::{Build, Common, generated_dir, shown};

/// `kernel bind`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel bind vec_add -o python/vec_add")]
pub struct Args {
    /// Name or path of the kernel
    #[arg(value_name = "NAME")]
    name: String,
    /// Where the package goes [default: target/pto/bind/NAME]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Target: cpu, a2a3 or a5
    #[arg(long, value_name = "TARGET", default_value = "cpu")]
    target: Target,
    /// SoC whose cores count where no device says how many there are
    #[arg(long, value_name = "SOC", value_parser = super::test::soc)]
    soc: Option<&'static Soc>,
    /// Python that the binding is for
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    python: String,
    /// Write the package and build nothing but the kernel
    #[arg(long)]
    no_build: bool,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// What `kernel bind --json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    name: String,
    module: String,
    path: PathBuf,
    files: Vec<PathBuf>,
    extension: Option<PathBuf>,
    commands: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut suite = select(&cx, std::slice::from_ref(&args.name))?;
    if let Some((_, error)) = suite.refused.pop() {
        return Err(error.into());
    }
    let [manifest] = suite.kernels.as_slice() else {
        return Err(Failure::usage(format!("`{}` is several kernels; a package is for one", args.name), None));
    };
    let dir = args.output.clone().unwrap_or_else(|| generated_dir(&cx).join("bind").join(&manifest.name));
    refuse_taken(&dir).map_err(|error| failure(&error))?;
    let setup = args.build.setup(&cx)?;
    let acl = (args.target == Target::Cpu).then(|| host_acl(&cx, setup.worker.program())).transpose();
    let acl = acl.map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
    let workshop = pto_kernel::run::Workshop::open(&cx, setup, args.target)?;
    let soc = soc_for(manifest, args.target, args.soc)?;
    let built = build_kernel(&cx, &workshop, manifest, soc)?;
    let request = BindRequest {
        manifest,
        target: args.target,
        soc,
        library: &built.library,
        symbol: &built.symbol,
        host_acl: acl.as_deref(),
    };
    let package = generate(&request, &dir).map_err(|error| failure(&error))?;
    let tools = BuildTools { python: args.python.clone().into() };
    let binding =
        if args.no_build { None } else { Some(build(&cx, &tools, &package).map_err(|error| failure(&error))?) };
    let path = shown(&cx, &package.dir);
    if args.common.json {
        out::json(&Document {
            schema: "ptokit.kernel-bind/1",
            name: manifest.name.clone(),
            module: package.module,
            path,
            files: package.files,
            extension: binding.as_ref().map(|binding| binding.extension.clone()),
            commands: binding.map(|binding| binding.commands).unwrap_or_default(),
        })?;
    } else {
        let next = match &binding {
            Some(_) => format!("PYTHONPATH={} python3 -c 'import {}'", path.display(), package.module),
            None => {
                let runner = path.join(format!("run_{}.py", package.module));
                format!("python3 {}{}", runner.display(), sizes(manifest, args.target, soc))
            }
        };
        out::text(&format!("wrote {}\nnext: {next}\n", path.display()))?;
    }
    Ok(Outcome::Passed)
}

/// The dims of a case, as the runner takes them.
fn sizes(manifest: &Manifest, target: Target, soc: &Soc) -> String {
    let case = derive(manifest, target, Cores::from(soc), DEFAULT_SEED).into_iter().next();
    let dims = case.map(|case| case.dims).unwrap_or_default();
    dims.into_iter().map(|(name, length)| format!(" {name}={length}")).collect()
}

fn failure(error: &BindError) -> Failure {
    match error {
        BindError::Interrupted => Failure::interrupted(),
        BindError::NoType { .. } | BindError::NotADirectory { .. } => Failure::usage(with_causes(error), error.hint()),
        // The compiler was there and refused.
        BindError::Cmake { .. } => Failure::negative(with_causes(error), error.hint()),
        _ => Failure::blocked(with_causes(error), error.hint()),
    }
}
