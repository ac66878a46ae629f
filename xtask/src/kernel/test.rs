//! `kernel test`: compile, launch, compare.

use std::path::PathBuf;

use pto_context::Context;
use pto_kernel::KernelError;
use pto_kernel::cases::CaseFilter;
use pto_kernel::run::{KernelStatus, MOST_REPEATS, Report, TestOptions, test_kernels, test_on_host};
use pto_launch::LaunchPath;
use pto_platform::{Soc, Target};

use super::page;
use super::record;
use super::render::render;
use super::select::select;
use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::{Build, Common, generated_dir, shown};

/// `kernel test`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel test\n  cargo xtask kernel test vec_add --case n=4097 --seed 7\n  cargo xtask kernel test path/to/kernel --soc Ascend950PR_9599"
)]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Target: cpu, a2a3 or a5 [default: what this machine has an NPU or CANN's simulator for, else cpu]
    #[arg(long, value_name = "TARGET")]
    target: Option<Target>,
    /// Write an HTML page about all cases, with pictures of what is wrong
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// What to run of each kernel.
#[derive(Debug, Clone, clap::Args)]
struct Options {
    /// SoC whose cores are counted, and which the CPU plays, for example Ascend950PR_9599
    #[arg(long, value_name = "SOC", value_parser = soc)]
    soc: Option<&'static Soc>,
    /// How to run it: direct (on an NPU), msprof, cannsim or linked (on CANN's model) [default: what this machine has]
    #[arg(long, value_name = "PATH")]
    launch: Option<LaunchPath>,
    /// Only this case: `n=4096`, `n=4096,m=3`, or its number
    #[arg(long, value_name = "CASE", value_parser = case)]
    case: Option<CaseFilter>,
    /// What random inputs are made from
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How many cases run at once; never more than there are processors
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// How often each case is launched, with all buffers filled anew [default: 5 on a device, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REPEATS)))]
    repeats: Option<u32>,
}

pub(super) fn soc(name: &str) -> Result<&'static Soc, String> {
    Soc::by_name(name).map_err(|error| with_hint(&error, error.hint()))
}

pub(super) fn case(given: &str) -> Result<CaseFilter, String> {
    given.parse().map_err(|error: KernelError| with_hint(&error, error.hint()))
}

pub(super) fn with_hint(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let suite = select(&cx, &args.names)?;
    let options = args.options.for_library();
    let asked = record::Asked::new(&cx, &suite, options.case.is_none());
    let report = match args.target {
        Some(target) => test_kernels(&cx, &args.build.workshop(&cx, target)?, suite, &options)?,
        None => test_on_host(&cx, &args.build.setup(&cx)?, suite, &options)?,
    };
    // What was found is shown before anything can go wrong with saving it.
    // A slip on the command line must not cost the results of the run before.
    let saved = match report.is_usage() {
        true => Ok(()),
        false => save(&cx, &report).and_then(|()| asked.tested(&report)),
    };
    interrupted(&cx, &report)?;
    if args.common.json {
        out::json(&report)?;
    } else {
        out::text(&render(&report))?;
    }
    saved?;
    if let Some(path) = &args.report {
        page::write(path, &report)?;
    }
    outcome(&report)
}

impl Options {
    fn for_library(&self) -> TestOptions {
        TestOptions {
            soc: self.soc,
            launch: self.launch,
            case: self.case.clone(),
            seed: self.seed,
            jobs: self.jobs.map(usize::from),
            repeats: self.repeats,
        }
    }
}

/// What a report means for the exit code.
///
/// # Errors
/// There was nothing to run.
pub fn outcome(report: &Report) -> Result<Outcome, Failure> {
    if report.kernels.iter().all(|kernel| kernel.status == KernelStatus::Skipped) {
        let target = report.kernels.first().map_or("this target", |kernel| kernel.target.name());
        let hint = "`cargo xtask kernel list` shows which targets each is written for".to_owned();
        return Err(Failure::usage(format!("no kernel here is written for `{target}` on this SoC"), hint));
    }
    Ok(Outcome::of_all(report.kernels.iter().map(|kernel| kernel.status.into())))
}

/// Nothing is shown of a report that was interrupted, and its file says what was done.
///
/// # Errors
/// It was interrupted.
pub fn interrupted(cx: &Context, report: &Report) -> Result<(), Failure> {
    if !report.interrupted {
        return Ok(());
    }
    let path = shown(cx, &report_path(cx));
    let done = report.totals.cases;
    Err(Failure::interrupted_with(format!("`{}` has the {done} cases that were done by then", path.display())))
}

fn report_path(cx: &Context) -> PathBuf {
    generated_dir(cx).join("report.json")
}

/// Keeps the report as `target/pto/report.json`.
///
/// # Errors
/// It cannot be written.
pub fn save(cx: &Context, report: &Report) -> Result<(), Failure> {
    report.save(&report_path(cx)).map_err(|error| Failure::io(&error))
}
