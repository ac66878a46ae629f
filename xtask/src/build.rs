//! `build`: a PyPTO checkout, and its runtime.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pto_build::{BuildOptions, BuildPlan, Built, Decision, Fault, PtoIsaSources, Reason, build, plan_build};
use pto_context::{Context, with_causes};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::{Common, shown};
use crate::{out, style};

/// Lines of a compiler that are shown: the first mistake and what it led to.
const LAST_WORDS: usize = 40;

/// `build`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask build\n  cargo xtask build --explain --dry-run\n  \
                        cargo xtask build --pypto-src ~/pypto --pypto-home ~/pypto-home --jobs 4")]
pub struct Args {
    /// The checkout [default: PYPTO_SRC, /workspace/pypto, the working directory]
    #[arg(long, value_name = "DIR")]
    pypto_src: Option<PathBuf>,
    /// PyPTO's home, with the environment to build with [default: PYPTO_HOME, /opt/pypto]
    #[arg(long, value_name = "DIR")]
    pypto_home: Option<PathBuf>,
    /// Jobs at once; the machine's limit counts where it is lower
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Remove what is built and begin with nothing
    #[arg(long)]
    clean: bool,
    /// CMake's build type [default: the project's own]
    #[arg(long, value_name = "TYPE")]
    build_type: Option<String>,
    /// A further argument for CMake; may be given several times
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    cmake_arg: Vec<String>,
    /// Apply the managed patches of this directory, or this one, to the runtime first
    #[arg(long, value_name = "DIR|FILE")]
    patches: Option<PathBuf>,
    /// Clone PTO-ISA from here [default: its own repository]
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pto_isa_url: Option<String>,
    /// Clone PTO-ISA from here when that fails three times [default: its mirror]
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pto_isa_mirror: Option<String>,
    /// Say why it begins from scratch or does not, with all that it depends on
    #[arg(long)]
    explain: bool,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    dry_run: bool,
    #[serde(flatten)]
    result: &'a T,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = context(args)?;
    check(&cx, args)?;
    let options = options(args);
    if args.dry_run {
        let plan = plan_build(&cx, &options)?;
        show(args, &plan, || plan_text(&cx, args, &plan))?;
    } else {
        let built = build(&cx, &options)?;
        show(args, &built, || built_text(&cx, args, &built))?;
    }
    Ok(Outcome::Passed)
}

/// What is wrong before anything is looked at.
fn check(cx: &Context, args: &Args) -> Result<(), Failure> {
    if let Some(patches) = args.patches.as_ref().filter(|patches| !cx.cwd().join(patches).exists()) {
        let hint = "name a directory with `.patch` files, or one such file: `--patches DIR`".to_owned();
        return Err(Failure::usage(format!("there is nothing at `{}`", patches.display()), Some(hint)));
    }
    Ok(())
}

/// The machine, with the checkout and the home that are named.
fn context(args: &Args) -> Result<Context, Failure> {
    let mut cx = args.common.context()?;
    for (name, dir) in [("PYPTO_SRC", &args.pypto_src), ("PYPTO_HOME", &args.pypto_home)] {
        if let Some(dir) = dir {
            let dir = cx.cwd().join(dir);
            cx = cx.with_var(name, dir);
        }
    }
    Ok(cx)
}

fn options(args: &Args) -> BuildOptions {
    let usual = PtoIsaSources::default();
    BuildOptions {
        jobs: args.jobs,
        clean: args.clean,
        build_type: args.build_type.clone(),
        cmake_args: args.cmake_arg.clone(),
        as_recorded: false,
        patches: args.patches.clone(),
        pto_isa: PtoIsaSources {
            url: args.pto_isa_url.clone().unwrap_or(usual.url),
            mirror: args.pto_isa_mirror.clone().unwrap_or(usual.mirror),
            pause: usual.pause,
        },
    }
}

fn show<T: Serialize>(args: &Args, result: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
    if args.common.json {
        return out::json(&Document { schema: "ptokit.build/1", dry_run: args.dry_run, result });
    }
    out::text(&text())
}

fn plan_text(cx: &Context, args: &Args, plan: &BuildPlan) -> String {
    let mut text = format!("{}\n", headline(cx, "would build", plan));
    if args.explain {
        text.push_str(&explanation(plan));
    }
    for step in &plan.commands {
        let _ = writeln!(text, "{}\n  {}", style::dim(format!("# {}", step.what)), step.command);
    }
    text
}

fn built_text(cx: &Context, args: &Args, built: &Built) -> String {
    let plan = &built.plan;
    let mut text = format!("{} {}\n", style::good("ok"), headline(cx, "built", plan));
    if args.explain {
        text.push_str(&explanation(plan));
    }
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    // What CMake makes beside the sources is what Python imports; static libraries and test programs stay in `build`.
    let by_products = plan.source.join("build");
    let (inner, outer): (Vec<_>, Vec<_>) = built.artifacts.iter().partition(|path| path.starts_with(&by_products));
    for artifact in if outer.is_empty() { inner } else { outer } {
        line("extension", path(cx, artifact));
    }
    line("runtime", built.extension.as_ref().map_or_else(|| path(cx, &built.wheel), |extension| path(cx, extension)));
    if let Some(isa) = &built.isa {
        line("PTO-ISA", format!("{}{}", isa.commit, if isa.reused { "" } else { ", fetched" }));
    }
    for outcome in &plan.patches {
        let what = if outcome.standing == pto_build::patches::Standing::Present { "there already" } else { "applied" };
        line("patch", format!("{}: {what}", outcome.patch));
    }
    text
}

fn headline(cx: &Context, done: &str, plan: &BuildPlan) -> String {
    let how = match &plan.decision {
        Decision::Incremental => "with what was there".to_owned(),
        Decision::Fresh { reason } => format!("from scratch: {reason}"),
    };
    let jobs = if plan.jobs.used == 1 { "1 job".to_owned() } else { format!("{} jobs", plan.jobs.used) };
    format!("{done} `{}` {how} ({}, {jobs})", path(cx, &plan.source), plan.generator)
}

/// Why it begins as it does, with both values of what changed, or all that did not.
fn explanation(plan: &BuildPlan) -> String {
    let mut text = String::new();
    let nothing = || style::dim("(nothing)");
    match &plan.decision {
        Decision::Fresh { reason: Reason::Inputs { changes } } => {
            for change in changes {
                let value = |value: &Option<String>| value.clone().unwrap_or_else(nothing);
                let (was, is) = (value(&change.was), value(&change.is));
                let _ = writeln!(text, "  {}\n    was  {was}\n    is   {is}", change.input);
            }
        }
        Decision::Fresh { reason: Reason::Artifacts { changes } } => {
            for change in changes {
                let _ = writeln!(text, "  {:?}: {}", change.change, change.path.display());
            }
        }
        Decision::Fresh { .. } => {}
        Decision::Incremental => {
            let _ = writeln!(text, "  nothing changed of what it depends on:");
            for (input, value) in &plan.inputs {
                let _ = writeln!(text, "    {input:<14} {value}");
            }
        }
    }
    let _ = writeln!(text, "  jobs: {} of {}, the limit of {}", plan.jobs.used, plan.jobs.limit, plan.jobs.source);
    text
}

fn path(cx: &Context, path: &Path) -> String {
    shown(cx, path).display().to_string()
}

impl From<pto_build::Error> for Failure {
    fn from(error: pto_build::Error) -> Self {
        let said = error.said(LAST_WORDS).map(|said| format!("\n{said}"));
        let message = with_causes(&error) + &said.unwrap_or_default();
        match error.fault() {
            Fault::Interrupt => Self::interrupted_with("run it again: it goes on from what is whole".to_owned()),
            fault => Self::of(fault, message, error.hint()),
        }
    }
}
