//! `kernel build`: compile, or show how it would be done.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_kernel::run::{
    BuildReport, KernelPlan, KernelStatus, NotTried, Problem, Tried, build_kernel, plan_kernel, soc_for,
};
use pto_platform::{Soc, Target};
use serde::Serialize;

use super::select::select;
use crate::exit::{Failure, Outcome};
use crate::setup::{Build, Common};
use crate::{out, style};

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

/// What `kernel build --json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    target: Target,
    dry_run: bool,
    kernels: Vec<Entry>,
}

/// What came of one kernel.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    path: PathBuf,
    #[serde(flatten)]
    what: What,
    #[serde(skip)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Built { symbol: String, build: BuildReport },
    Plan(KernelPlan),
    Error(Problem),
}

/// Runs the verb. A kernel that cannot be built does not keep the rest from being built.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    if args.dry_run && args.target == Target::Cpu {
        let hint = "use `--verbose` without `--dry-run`: it shows each command that is run".to_owned();
        return Err(Failure::usage("`--dry-run` is for `--target a2a3` and `--target a5`", hint));
    }
    let cx = args.common.context()?;
    let suite = select(&cx, &args.names)?;
    let tried = if args.dry_run {
        let setup = args.build.setup(&cx)?;
        suite.each(|kernel| {
            soc_for(kernel, args.target, args.soc)?;
            Ok(What::Plan(plan_kernel(&cx, &setup, kernel, args.target)?))
        })?
    } else {
        let workshop = args.build.workshop(&cx, args.target)?;
        suite.each(|kernel| {
            let built = build_kernel(&cx, &workshop, kernel, soc_for(kernel, args.target, args.soc)?)?;
            Ok(What::Built { symbol: built.symbol, build: built.report })
        })?
    };
    let kernels: Vec<Entry> = tried.into_iter().filter_map(Entry::of).collect();
    if kernels.is_empty() {
        let hint = "`cargo xtask kernel list` shows which targets each is written for".to_owned();
        return Err(Failure::usage(format!("no kernel here is written for `{}`", args.target), hint));
    }
    let outcome = Outcome::of_all(kernels.iter().map(|kernel| kernel.outcome));
    if args.common.json {
        let schema = "ptokit.kernel-build/1";
        out::json(&Document { schema, target: args.target, dry_run: args.dry_run, kernels })?;
    } else {
        out::text(&text(&kernels, args.target))?;
    }
    Ok(outcome)
}

impl Entry {
    /// Nothing for a kernel of another target that nobody asked for by name.
    fn of(tried: Tried<What>) -> Option<Self> {
        let (what, outcome) = match tried.result {
            Ok(what) => (what, Outcome::Passed),
            Err(NotTried { status: KernelStatus::Skipped, .. }) => return None,
            Err(NotTried { status, problem, .. }) => (What::Error(problem), status.into()),
        };
        Some(Self { name: tried.name, path: tried.path, what, outcome })
    }
}

fn text(entries: &[Entry], target: Target) -> String {
    let mut text = String::new();
    for Entry { name, what, .. } in entries {
        let _ = match what {
            What::Built { build, .. } if build.cached => {
                writeln!(text, "{name}: up to date, {}", build.library.display())
            }
            What::Built { build, .. } => writeln!(text, "{name}: built, {}", build.library.display()),
            What::Plan(plan) => writeln!(text, "# {name} for {target}\n{}", plan.plan.to_shell()),
            What::Error(problem) => {
                let hint = problem.hint.as_ref().map(|hint| format!("\n{} {hint}", style::hint("hint:")));
                writeln!(text, "{} {name}: {}{}", style::error("error:"), problem.message, hint.unwrap_or_default())
            }
        };
    }
    text
}
