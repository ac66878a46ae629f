//! `kernel build`: compile, or show how it would be done.

use pto_kernel::Manifest;
use pto_kernel::run::{Built, build_kernel, plan_kernel, soc_for};
use pto_platform::{Soc, Target};

use super::select::select;
use crate::exit::{Failure, Outcome};
use crate::setup::{Build, Common};

/// `kernel build`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel build vec_add\n  cargo xtask kernel build vec_add --target a5 --dry-run"
)]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Target: cpu, a2a3 or a5
    #[arg(long, value_name = "TARGET", default_value = "cpu")]
    target: Target,
    /// SoC that the CPU plays
    #[arg(long, value_name = "SOC", value_parser = super::test::soc)]
    soc: Option<&'static Soc>,
    /// Print the commands, shell-quoted or as JSON, and run nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let kernels = select(&cx, &args.names)?;
    if args.dry_run {
        return dry_run(args, &cx, &kernels);
    }
    let workshop = args.build.workshop(&cx)?;
    let mut built = Vec::new();
    for kernel in &kernels {
        let soc = soc_for(kernel, args.target, args.soc)?;
        built.push((kernel, build_kernel(&cx, &workshop, kernel, args.target, soc)?));
    }
    if args.common.json {
        let list: Vec<_> = built.iter().map(|(kernel, built)| json(kernel, built)).collect();
        println!("{}", serde_json::json!({ "schema": "ptokit.kernel-build/1", "kernels": list }));
    } else {
        for (kernel, built) in &built {
            let how = if built.report.cached { "up to date" } else { "built" };
            anstream::println!("{}: {how}, {}", kernel.name, built.report.library.display());
        }
    }
    Ok(Outcome::Passed)
}

fn json(kernel: &Manifest, built: &Built) -> serde_json::Value {
    serde_json::json!({ "name": kernel.name, "path": kernel.path, "symbol": built.symbol, "build": built.report })
}

fn dry_run(args: &Args, cx: &pto_context::Context, kernels: &[Manifest]) -> Result<Outcome, Failure> {
    if args.target == Target::Cpu {
        let hint = "use `--verbose` without `--dry-run`: it shows each command that is run".to_owned();
        return Err(Failure::usage("`--dry-run` is for `--target a2a3` and `--target a5`", hint));
    }
    let setup = args.build.setup(cx)?;
    let mut plans = Vec::new();
    for kernel in kernels {
        soc_for(kernel, args.target, args.soc)?;
        plans.push((kernel, plan_kernel(cx, &setup, kernel, args.target)?));
    }
    if args.common.json {
        let list: Vec<_> = plans
            .iter()
            .map(|(kernel, plan)| serde_json::json!({ "name": kernel.name, "path": kernel.path, "plan": plan }))
            .collect();
        println!(
            "{}",
            serde_json::json!({ "schema": "ptokit.kernel-build/1", "target": args.target, "kernels": list })
        );
    } else {
        for (kernel, plan) in &plans {
            anstream::println!("# {} for {}\n{}", kernel.name, args.target, plan.to_shell());
        }
    }
    Ok(Outcome::Passed)
}
