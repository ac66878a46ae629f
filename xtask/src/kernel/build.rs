//! `kernel build`: compile, or show how it would be done.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_kernel::Manifest;
use pto_kernel::run::{BuildReport, Fault, KernelPlan, Problem, RunError, build_kernel, plan_kernel, soc_for};
use pto_platform::{Soc, Target};
use serde::Serialize;

use super::select::{Selection, select};
use crate::exit::{BLOCKED, Failure, NEGATIVE, Outcome, PASSED, USAGE};
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
    code: u8,
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
    let selection = select(&cx, &args.names)?;
    let entries = if args.dry_run {
        let setup = args.build.setup(&cx)?;
        entries(args, selection, |kernel, _| Ok(What::Plan(plan_kernel(&cx, &setup, kernel, args.target)?)))?
    } else {
        let workshop = args.build.workshop(&cx, args.target)?;
        entries(args, selection, |kernel, soc| {
            let built = build_kernel(&cx, &workshop, kernel, args.target, soc)?;
            Ok(What::Built { symbol: built.symbol, build: built.report })
        })?
    };
    let outcome = outcome(&entries);
    if args.common.json {
        let schema = "ptokit.kernel-build/1";
        out::json(&Document { schema, target: args.target, dry_run: args.dry_run, kernels: entries })?;
    } else {
        out::text(&text(&entries, args.target))?;
    }
    Ok(outcome)
}

fn entries(
    args: &Args,
    selection: Selection,
    work: impl Fn(&Manifest, &'static Soc) -> Result<What, RunError>,
) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for kernel in &selection.kernels {
        let done = soc_for(kernel, args.target, args.soc).and_then(|soc| work(kernel, soc));
        let (what, code) = match done {
            Ok(what) => (what, PASSED),
            Err(error) if error.fault() == Fault::Interrupt => return Err(error.into()),
            // Who asks for all kernels means those that are written for the target.
            Err(error) if !selection.named && error.is_about_the_target() => continue,
            Err(error) => refused(&error.into()),
        };
        entries.push(Entry { name: kernel.name.clone(), path: kernel.path.clone(), what, code });
    }
    entries.extend(selection.refused.into_iter().map(|kernel| {
        let (what, code) = refused(&kernel.failure);
        Entry { name: kernel.name, path: kernel.path, what, code }
    }));
    if entries.is_empty() {
        let hint = "`cargo xtask kernel list` shows which targets each is written for".to_owned();
        return Err(Failure::usage(format!("no kernel here is written for `{}`", args.target), hint));
    }
    Ok(entries)
}

fn refused(failure: &Failure) -> (What, u8) {
    (What::Error(failure.problem()), failure.code())
}

fn outcome(entries: &[Entry]) -> Outcome {
    let any = |code| entries.iter().any(|entry| entry.code == code);
    match (any(USAGE), any(NEGATIVE), any(BLOCKED)) {
        (true, _, _) => Outcome::Malformed,
        (false, true, _) => Outcome::Negative,
        (false, false, true) => Outcome::Blocked,
        (false, false, false) => Outcome::Passed,
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
            What::Plan(plan) => writeln!(text, "# {name} for {target}\n{}", plan.to_shell()),
            What::Error(problem) => {
                let hint = problem.hint.as_ref().map(|hint| format!("\n{} {hint}", style::hint("hint:")));
                writeln!(text, "{} {name}: {}{}", style::error("error:"), problem.message, hint.unwrap_or_default())
            }
        };
    }
    text
}
