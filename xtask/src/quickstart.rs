//! `quickstart`: everything from a fresh clone to verified kernels.

use pto_kernel::discover::discover;

use crate::exit::{Failure, Outcome};
use crate::kernel::{run_kernels, save, show};
use crate::setup::{Build, Common, workspace_root};
use crate::style;

/// `quickstart`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask quickstart")]
pub struct Args {
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let examples = workspace_root(&cx).join("examples");
    let shown = examples.strip_prefix(cx.cwd()).unwrap_or(&examples).to_path_buf();
    let found = discover(&shown);
    if let Some((_, error)) = found.failures.into_iter().next() {
        return Err(error.into());
    }
    if found.kernels.is_empty() {
        return Err(Failure::usage(format!("there are no examples in `{}`", shown.display()), None));
    }
    let workshop = args.build.workshop(&cx)?;
    let report = run_kernels(&cx, &workshop, &found.kernels, &Default::default())?;
    save(&cx, &report)?;
    if args.common.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| Failure::io(&error.into()))?);
        return Ok(Outcome::passed_if(report.passed));
    }
    show(&report);
    if report.passed {
        anstream::println!(
            "\n{} with {}\n{} PTO-ISA from {} ({})\n\nTry next:\n  \
             cargo xtask kernel test vec_add --case n=100003      another size\n  \
             cargo xtask kernel test --soc Ascend950PR_9599       the same kernels as an A5 runs them\n  \
             change a `TADD` to `TSUB` in examples/vec_add/vec_add.cpp and test again: it fails, and says where\n  \
             cargo xtask kernel new my_kernel                     your own, from a template that works",
            style::bold("compiled"),
            workshop.toolchain.compiler.describe(),
            style::bold("headers "),
            workshop.headers.dir.display(),
            workshop.headers.why,
        );
    }
    Ok(Outcome::passed_if(report.passed))
}
