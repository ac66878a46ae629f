//! `quickstart`: everything from a fresh clone to verified kernels.

use pto_kernel::discover::discover;
use pto_kernel::run::{
    CpuTools, HeaderSource, KernelResult, Report, Suite, TestOptions, Totals, Workshop, test_kernels,
};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::kernel::{Asked, interrupted, outcome, render, save};
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
    let suite = Suite::from(discover(&examples));
    if suite.kernels.is_empty() && suite.refused.is_empty() {
        return Err(Failure::usage(format!("there are no examples in `{}`", examples.display()), None));
    }
    let setup = args.build.setup(&cx)?;
    let tools = CpuTools::find(&cx, &setup)?;
    let workshop = Workshop::for_cpu(setup, tools.clone());
    let asked = Asked::new(&cx, &suite, true);
    let report = test_kernels(&cx, &workshop, suite, &TestOptions::default())?;
    let saved = save(&cx, &report).and_then(|()| asked.tested(&report));
    interrupted(&cx, &report)?;
    if args.common.json {
        out::json(&document(&report, &tools))?;
    } else {
        out::text(&text(&report, &tools))?;
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

fn text(report: &Report, tools: &CpuTools) -> String {
    let mut text = render(report);
    text += &format!(
        "\n{} {}\n{}  {}\n          {}\n",
        style::bold("compiler"),
        tools.toolchain.compiler.describe(),
        style::bold("PTO-ISA"),
        tools.headers.why,
        tools.headers.dir.display(),
    );
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
