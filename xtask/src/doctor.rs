//! `doctor`: what is wrong on this machine, and what to do.

use std::path::PathBuf;

use pto_context::{Context, with_causes};
use pto_doctor::diff::{Difference, diff};
use pto_doctor::{CheckReport, DoctorError, Examination, Pinned, Report, Snapshot, Status, checks, examine};
use pto_store::Store;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `doctor`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  cargo xtask doctor\n  cargo xtask doctor --only cann,bisheng --json\n  \
                  cargo xtask doctor --save here.json"
)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Take what cannot be verified for a failure
    #[arg(long)]
    strict: bool,
    /// Run this check only; may be given several times, or as a list with commas
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// Show every check with what it looks at, and run none
    #[arg(long, conflicts_with_all = ["save", "only", "strict"])]
    list: bool,
    /// Write what was found to a file, secrets masked, for `doctor diff`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Inspect a file tree as if it were `/`; programs are those on this machine's PATH
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Words that belong behind `--only`.
    #[arg(hide = true)]
    stray: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `doctor`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show what differs between two saved machines or days, the most likely cause first
    #[command(after_help = "Example:\n  cargo xtask doctor diff there.json here.json")]
    Diff {
        /// A file of `doctor --save`
        #[arg(value_name = "A")]
        left: PathBuf,
        /// Another one
        #[arg(value_name = "B")]
        right: PathBuf,
    },
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    passed: bool,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Debug, Serialize)]
struct ListDocument {
    schema: &'static str,
    checks: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    id: &'static str,
    title: &'static str,
    docs: &'static str,
}

#[derive(Debug, Serialize)]
struct DiffDocument<'a> {
    schema: &'static str,
    same: bool,
    differences: &'a [Difference],
}

impl From<DoctorError> for Failure {
    fn from(error: DoctorError) -> Self {
        match &error {
            DoctorError::Read(source) => Self::usage(with_causes(source), None),
            DoctorError::Write(source) => Self::io(source),
            DoctorError::Interrupted => Self::interrupted(),
            error => Self::usage(with_causes(error), error.hint()),
        }
    }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    if let Some(Verb::Diff { left, right }) = &args.verb {
        return run_diff(args, &Snapshot::read(left)?, &Snapshot::read(right)?);
    }
    if !args.stray.is_empty() {
        return Err(stray(&args.stray));
    }
    if args.list {
        list(args)?;
        return Ok(Outcome::Passed);
    }
    let report = examine(&rooted(args, cx)?, &examination(args)?)?;
    if let Some(path) = &args.save {
        Snapshot::of(&report).write(path)?;
    }
    if args.common.json {
        out::json(&Document { schema: "ptokit.doctor/1", passed: report.passed(), report: &report })?;
    } else {
        out::text(&text(&report, args))?;
    }
    Ok(Outcome::passed_if(report.passed()))
}

/// A check is chosen with an option; the words may also be a mistyped verb.
fn stray(words: &[String]) -> Failure {
    let are_checks = words.iter().flat_map(|word| word.split(',')).all(|id| pto_doctor::check(id).is_some());
    let hint = if are_checks {
        format!("cargo xtask doctor --only {}", words.join(","))
    } else {
        "`cargo xtask doctor --list` shows the checks for `--only`; the only verb is `doctor diff A B`".to_owned()
    };
    Failure::usage(format!("`doctor` does not take `{}`", words.join(" ")), hint)
}

fn rooted(args: &Args, cx: Context) -> Result<Context, Failure> {
    let Some(root) = &args.root else { return Ok(cx) };
    let root = cx.cwd().join(root);
    if !root.is_dir() {
        return Err(Failure::usage(
            format!("`--root {}` is not a directory", root.display()),
            "give the directory where the image is mounted".to_owned(),
        ));
    }
    Ok(cx.with_root(root))
}

fn examination(args: &Args) -> Result<Examination, Failure> {
    let mut examination = of_this_machine(&args.common.context()?);
    examination.only.clone_from(&args.only);
    examination.strict = args.strict;
    if args.root.is_some() {
        // What this machine has fetched says nothing of an inspected tree.
        examination.pinned = Pinned::default();
    }
    Ok(examination)
}

/// All checks, on this machine.
pub fn of_this_machine(cx: &Context) -> Examination {
    let mut examination = Examination::new(cx);
    // The probe of ACL is this same program; without it everything else is still looked at.
    examination.probes.worker = std::env::current_exe().ok();
    if let Ok(root) = Store::default_root(cx) {
        let store = Store::open(root);
        let compiler = pto_kernel::run::zig().and_then(|pin| pin.find(&store));
        examination.pinned = Pinned { headers: pto_kernel::run::PTO_ISA.find(&store), compiler };
    }
    examination
}

fn text(report: &Report, args: &Args) -> String {
    let quiet = args.common.quiet;
    let shown = |check: &CheckReport| !quiet || matches!(check.status, Status::Warn | Status::Fail);
    // A few checks alone do not tell what the machine can do.
    let ready = args.only.is_empty() || !report.ready_for.is_empty();
    rendered(report, shown, ready)
}

/// The report for people: the checks that are to be shown, the verdict, and what the machine is ready for.
pub fn rendered(report: &Report, shown: impl Fn(&CheckReport) -> bool, ready: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for check in report.checks.iter().filter(|check| shown(check)) {
        lines.push(line(check));
        let wrong = matches!(check.status, Status::Warn | Status::Fail);
        lines.extend(
            check.remedy.iter().filter(|_| wrong).map(|remedy| format!("      {} {remedy}", style::hint("do:"))),
        );
    }
    lines.push(report.closing());
    if ready {
        lines.push(report.ready());
    }
    lines.join("\n") + "\n"
}

/// `ok    device access: ...`: the status in a column of its own.
fn line(check: &CheckReport) -> String {
    let word = format!("{:<6}", check.status);
    let word = match check.status {
        Status::Ok => style::good(word),
        Status::Warn => style::warning(word),
        Status::Fail => style::error(word),
        Status::Skip => style::dim(word),
    };
    format!("{word}{}", check.line)
}

fn list(args: &Args) -> Result<(), Failure> {
    if args.common.json {
        let checks = checks().map(|check| Listed { id: check.id, title: check.title, docs: check.docs }).collect();
        return out::json(&ListDocument { schema: "ptokit.doctor-list/1", checks });
    }
    let lines: Vec<String> = checks().map(|check| format!("{}\n    {}\n", style::bold(check.id), check.docs)).collect();
    out::text(&lines.join(""))
}

fn run_diff(args: &Args, left: &Snapshot, right: &Snapshot) -> Result<Outcome, Failure> {
    let differences = diff(left, right);
    if args.common.json {
        let same = differences.is_empty();
        out::json(&DiffDocument { schema: "ptokit.doctor-diff/1", same, differences: &differences })?;
    } else {
        out::text(&diff_text(&differences))?;
    }
    Ok(Outcome::passed_if(differences.is_empty()))
}

fn diff_text(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "no difference.\n".to_owned();
    }
    let side = |text: &Option<String>| text.clone().unwrap_or_else(|| style::dim("(nothing)"));
    let block = |one: &Difference| {
        let head = format!("{} {}", style::bold(&one.name), style::dim(format!("({})", one.why)));
        format!("{head}\n  A: {}\n  B: {}\n", side(&one.left), side(&one.right))
    };
    differences.iter().map(block).collect()
}
