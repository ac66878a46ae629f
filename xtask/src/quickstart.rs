//! `quickstart`: everything from a fresh clone to verified kernels.

use pto_kernel::discover::discover;
use pto_kernel::run::{CpuTools, HeaderSource, KernelResult, Report, Totals};
use pto_platform::Target;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::kernel::{Options, Run, Selection, outcome, render, run_kernels, save};
use crate::setup::{Build, Common, shown, workspace_root};
use crate::{out, style};

/// `quickstart`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask quickstart")]
pub struct Args {
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// What `quickstart --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    compiler: String,
    headers: &'a HeaderSource,
    #[serde(flatten)]
    results: Results<'a>,
}

#[derive(Debug, Serialize)]
struct Results<'a> {
    passed: bool,
    kernels: &'a [KernelResult],
    totals: Totals,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let examples = shown(&cx, &workspace_root(&cx).join("examples"));
    let found = Selection::from(discover(&examples));
    if found.kernels.is_empty() && found.refused.is_empty() {
        return Err(Failure::usage(format!("there are no examples in `{}`", examples.display()), None));
    }
    let workshop = args.build.workshop(&cx, Target::Cpu)?;
    let report = run_kernels(&Run { cx: &cx, workshop: &workshop, options: &Options::default() }, found)?;
    let saved = save(&cx, &report);
    let tools = workshop.cpu.as_ref();
    match tools.filter(|_| args.common.json) {
        Some(tools) => out::json(&document(&report, tools))?,
        None => out::text(&text(&report, tools))?,
    }
    saved?;
    outcome(&report)
}

fn document<'a>(report: &'a Report, tools: &'a CpuTools) -> Document<'a> {
    Document {
        schema: "ptokit.quickstart/1",
        compiler: tools.toolchain.compiler.describe(),
        headers: &tools.headers,
        results: Results { passed: report.passed, kernels: &report.kernels, totals: report.totals },
    }
}

fn text(report: &Report, tools: Option<&CpuTools>) -> String {
    let mut text = render(report);
    if let Some(tools) = tools {
        text += &format!(
            "\n{} {}\n{}  {}\n          {}\n",
            style::bold("compiler"),
            tools.toolchain.compiler.describe(),
            style::bold("PTO-ISA"),
            tools.headers.why,
            tools.headers.dir.display(),
        );
    }
    if report.passed {
        text += NEXT;
    }
    text
}

/// What to try when everything works.
const NEXT: &str = "
Try next:
  cargo xtask kernel test vec_add --case n=100003   another size
  cargo xtask kernel test --soc Ascend950PR_9599    the same kernels as an A5 runs them
  cargo xtask kernel new my_kernel                  your own, from a template that works
  or change `TADD` to `TSUB` in examples/vec_add/vec_add.cpp and run this again: it fails, and says where
";
