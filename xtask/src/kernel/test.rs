//! `kernel test`: compile, launch, compare.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_golden::html;
use pto_kernel::cases::CaseFilter;
use pto_kernel::run::{
    CaseResult, CaseStatus, Fault, KernelResult, KernelStatus, Report, TestOptions, Workshop, test_kernel,
};
use pto_kernel::{KernelError, Manifest};
use pto_platform::{Soc, Target};

use super::select::{Selection, select};
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome};
use crate::setup::{Build, Common, generated_dir};
use crate::{out, style};

/// More of a kernel's own words than this would hide the verdict.
const SAID_LINES: usize = 8;

/// `kernel test`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel test\n  cargo xtask kernel test vec_add --case n=4097 --seed 7\n  cargo xtask kernel test path/to/kernel --soc Ascend950PR_9599"
)]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
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
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Target: cpu, a2a3 or a5
    #[arg(long, value_name = "TARGET", default_value = "cpu")]
    target: Option<Target>,
    /// SoC whose cores are counted, and which the CPU plays, for example Ascend950PR_9599
    #[arg(long, value_name = "SOC", value_parser = soc)]
    soc: Option<&'static Soc>,
    /// Only this case: `n=4096`, `n=4096,m=3`, or its number
    #[arg(long, value_name = "CASE", value_parser = case)]
    case: Option<CaseFilter>,
    /// What random inputs are made from
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How many cases run at once; never more than there are processors
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

pub(super) fn soc(name: &str) -> Result<&'static Soc, String> {
    Soc::by_name(name).map_err(|error| with_hint(&error, error.hint()))
}

fn case(given: &str) -> Result<CaseFilter, String> {
    given.parse().map_err(|error: KernelError| with_hint(&error, error.hint()))
}

fn with_hint(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let selection = select(&cx, &args.names)?;
    let workshop = args.build.workshop(&cx, args.options.target())?;
    let report = run_kernels(&Run { cx: &cx, workshop: &workshop, options: &args.options }, selection)?;
    // What was found is shown before anything can go wrong with saving it.
    let saved = save(&cx, &report);
    if args.common.json {
        out::json(&report)?;
    } else {
        out::text(&render(&report))?;
    }
    saved?;
    if let Some(path) = &args.report {
        page(path, &report)?;
    }
    outcome(&report)
}

/// Every output of every case, and what did not come so far.
fn page(path: &Path, report: &Report) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for kernel in &report.kernels {
        if let Some(problem) = &kernel.error {
            let skipped = kernel.status == KernelStatus::Skipped;
            let (name, message) = (kernel.name.clone(), problem.message.clone());
            entries.push(html::Case { name, passed: skipped, message, command: None, report: None });
        }
        for case in &kernel.cases {
            let command = Some(repeat(kernel, case));
            let entry =
                |name, passed, message, report| html::Case { name, passed, message, command: command.clone(), report };
            let name = format!("{} {} ({})", kernel.name, case.case, case.target);
            // A case may be wrong though its outputs are right: an input was overwritten, or nothing was launched.
            if case.outputs.is_empty() || (!case.passed() && case.outputs.values().all(|output| output.passed())) {
                entries.push(entry(name.clone(), case.passed(), case.message.clone(), None));
            }
            entries.extend(case.outputs.iter().map(|(output, report)| {
                entry(format!("{name}, {output}"), report.passed(), report.message.clone(), Some(report))
            }));
        }
    }
    crate::golden::page::write(path, "kernel test".to_owned(), entries)
}

impl Options {
    fn target(&self) -> Target {
        self.target.unwrap_or(Target::Cpu)
    }

    fn for_library(&self) -> TestOptions {
        TestOptions {
            target: self.target,
            soc: self.soc,
            case: self.case.clone(),
            seed: self.seed,
            jobs: self.jobs.map(usize::from),
        }
    }
}

/// What all kernels of a run share.
pub struct Run<'a> {
    /// The machine.
    pub cx: &'a Context,
    /// What it offers.
    pub workshop: &'a Workshop,
    /// What to run of each.
    pub options: &'a Options,
}

/// Tests one kernel after the other. Whatever is wrong with one does not keep the rest from being tried.
///
/// # Errors
/// The user asked for the end.
pub fn run_kernels(run: &Run<'_>, selection: Selection) -> Result<Report, Failure> {
    let target = run.options.target();
    let mut results = Vec::new();
    for kernel in &selection.kernels {
        results.push(run.one(kernel, selection.named)?);
    }
    results.extend(selection.refused.into_iter().map(|refused| {
        let problem = refused.failure.problem();
        KernelResult::not_tried(refused.name, refused.path, target, KernelStatus::Malformed, problem)
    }));
    Ok(Report::new(results))
}

impl Run<'_> {
    fn one(&self, kernel: &Manifest, named: bool) -> Result<KernelResult, Failure> {
        let error = match test_kernel(self.cx, self.workshop, kernel, &self.options.for_library(), &|_| {}) {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        let status = match error.fault() {
            Fault::Interrupt => return Err(error.into()),
            // Who asks for all kernels means those that fit.
            Fault::Input if !named && error.is_about_the_target() => KernelStatus::Skipped,
            Fault::Kernel => KernelStatus::NotBuilt,
            Fault::Input => KernelStatus::Malformed,
            Fault::Machine => KernelStatus::Blocked,
        };
        let problem = Failure::from(error).problem();
        let (name, path) = (kernel.name.clone(), kernel.path.clone());
        Ok(KernelResult::not_tried(name, path, self.options.target(), status, problem))
    }
}

/// What a report means for the exit code. What was given wrongly comes first: it has to be mended before the rest says
/// anything.
///
/// # Errors
/// There was nothing to run.
pub fn outcome(report: &Report) -> Result<Outcome, Failure> {
    let any = |status| report.kernels.iter().any(|kernel| kernel.status == status);
    if report.kernels.iter().all(|kernel| kernel.status == KernelStatus::Skipped) {
        let target = report.kernels.first().map_or("this target", |kernel| kernel.target.name());
        let hint = "`cargo xtask kernel list` shows which targets each is written for".to_owned();
        return Err(Failure::usage(format!("no kernel here is written for `{target}` on this SoC"), hint));
    }
    Ok(if any(KernelStatus::Malformed) {
        Outcome::Malformed
    } else if any(KernelStatus::Failed) || any(KernelStatus::NotBuilt) {
        Outcome::Negative
    } else if any(KernelStatus::Blocked) {
        Outcome::Blocked
    } else {
        Outcome::passed_if(report.passed)
    })
}

/// `target/pto/report.json`.
///
/// # Errors
/// It cannot be written.
pub fn save(cx: &Context, report: &Report) -> Result<(), Failure> {
    let dir = generated_dir(cx);
    let json = serde_json::to_vec_pretty(report).map_err(|error| Failure::io(&error.into()))?;
    // Whole or not at all: somebody may be reading the last one.
    let partial = dir.join(format!(".report.{}.json", std::process::id()));
    fs_err::create_dir_all(&dir)
        .and_then(|()| fs_err::write(&partial, json))
        .and_then(|()| fs_err::rename(&partial, dir.join("report.json")))
        .map_err(|error| {
            let _ = std::fs::remove_file(&partial);
            Failure::io(&error)
        })
}

/// The results for people.
pub fn render(report: &Report) -> String {
    let mut table = Table::new(&["kernel", "target", "case", "from", "verdict", "worst error", "time"]);
    for kernel in &report.kernels {
        for (index, case) in kernel.cases.iter().enumerate() {
            table.row(row(kernel, case, index == 0));
        }
        if kernel.cases.is_empty() {
            let verdict = Cell::styled(kernel.status.word(), |text| match kernel.status {
                KernelStatus::Skipped => style::dim(text),
                _ => style::error(text),
            });
            let blank = || Cell::new("-");
            table.row(vec![Cell::new(&kernel.name), Cell::new(kernel.target.name()), blank(), blank(), verdict]);
        }
    }
    let mut text = String::new();
    if report.totals.cases > 0 || report.kernels.len() > 1 {
        text += &(table.lines().join("\n") + "\n\n");
    }
    report.kernels.iter().for_each(|kernel| explain(kernel, &mut text));
    let totals = report.totals;
    let verdict = if report.passed { style::good("passed") } else { style::error("failed") };
    let plural = if totals.kernels == 1 { "" } else { "s" };
    let _ = write!(
        text,
        "{verdict}: {} of {} cases passed in {} kernel{plural}",
        totals.passed, totals.cases, totals.kernels
    );
    for status in [KernelStatus::NotBuilt, KernelStatus::Malformed, KernelStatus::Blocked, KernelStatus::Skipped] {
        match report.kernels.iter().filter(|kernel| kernel.status == status && kernel.cases.is_empty()).count() {
            0 => {}
            count => {
                let _ = write!(text, ", {count} {}", status.word());
            }
        }
    }
    text + "\n"
}

fn row(kernel: &KernelResult, case: &CaseResult, first: bool) -> Vec<Cell> {
    let verdict = case.status.word();
    vec![
        Cell::new(if first { kernel.name.clone() } else { String::new() }),
        Cell::new(if first { format!("{} ({})", kernel.target, kernel.soc.unwrap_or("-")) } else { String::new() }),
        Cell::new(&case.case),
        Cell::new(&case.origin),
        match case.status {
            CaseStatus::Passed => Cell::styled(verdict, |text| style::good(text)),
            _ => Cell::styled(verdict, |text| style::error(text)),
        },
        Cell::new(worst(case)),
        Cell::new(format!("{:.2} s", case.seconds)),
    ]
}

/// The largest absolute error over all outputs.
fn worst(case: &CaseResult) -> String {
    let errors = case.outputs.values().filter_map(|report| report.worst_abs.as_ref()?.error);
    errors.fold(None, |worst: Option<f64>, error| Some(worst.map_or(error, |worst| worst.max(error)))).map_or(
        "-".to_owned(),
        |worst| {
            if worst == 0.0 { "0".to_owned() } else { format!("{worst:.1e}") }
        },
    )
}

/// What went wrong, and what is doubtful, kernel by kernel.
fn explain(kernel: &KernelResult, text: &mut String) {
    if let Some(problem) = kernel.error.as_ref().filter(|_| kernel.status != KernelStatus::Skipped) {
        // A message that begins with a path says itself which kernel it is about.
        let placed = problem.message.starts_with(&*kernel.path.parent().unwrap_or(&kernel.path).to_string_lossy());
        let name = if placed { String::new() } else { format!("{}: ", kernel.name) };
        let _ = writeln!(text, "{} {name}{}", style::error("error:"), problem.message);
        hint(problem.hint.as_deref(), "", text);
        text.push('\n');
    }
    for case in kernel.cases.iter().filter(|case| !case.passed()) {
        explain_case(kernel, case, text);
    }
    for (note, count) in notes(kernel) {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let _ = writeln!(text, "{} {}: {note} ({times})\n", style::warning("note:"), kernel.name);
    }
    if let Some(warnings) = kernel.build.as_ref().map(|build| build.warnings.trim()).filter(|text| !text.is_empty()) {
        let _ = writeln!(text, "{} {}: the compiler says\n{warnings}\n", style::warning("note:"), kernel.name);
    }
}

fn explain_case(kernel: &KernelResult, case: &CaseResult, text: &mut String) {
    let word = style::error(case.status.word());
    let _ = write!(text, "{word} {} {}", kernel.name, case.case);
    // Wrong outputs speak for themselves, below.
    if case.outputs.values().all(|report| report.passed()) {
        let _ = write!(text, ": {}", case.message.replace('\n', "\n  "));
    }
    text.push('\n');
    for (name, report) in case.outputs.iter().filter(|(_, report)| !report.passed()) {
        let _ = writeln!(text, "  {}", format!("`{name}`: {report}").replace('\n', "\n  "));
    }
    if let Some(said) = case.said.as_ref().filter(|said| !case.message.contains(said.trim())) {
        let _ = writeln!(text, "  it wrote:\n{}", last_lines(said));
    }
    hint(case.hint.as_deref(), "  ", text);
    let _ = writeln!(text, "  repeat: {}\n", repeat(kernel, case));
}

/// The command that runs one case again.
fn repeat(kernel: &KernelResult, case: &CaseResult) -> String {
    format!("cargo xtask kernel test {} --case {} --seed {}", named(kernel), case_argument(case), case.seed)
}

/// The end of what a kernel wrote: the report file has more.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(SAID_LINES)..];
    let cut = if shown.len() < lines.len() { "    ...\n" } else { "" };
    format!("{cut}    {}", shown.join("\n    "))
}

fn hint(hint: Option<&str>, indent: &str, text: &mut String) {
    if let Some(hint) = hint {
        let _ = writeln!(text, "{indent}{} {hint}", style::hint("hint:"));
    }
}

/// The kernel as it can be given on a command line again: its directory, which works wherever its name does.
fn named(kernel: &KernelResult) -> String {
    let dir = kernel.path.parent().map(|dir| dir.to_string_lossy().into_owned()).filter(|dir| !dir.is_empty());
    let dir = dir.unwrap_or_else(|| kernel.path.to_string_lossy().into_owned());
    shlex::try_quote(&dir).map_or_else(|_| dir.clone(), |quoted| quoted.into_owned())
}

fn case_argument(case: &CaseResult) -> &str {
    if case.dims.is_empty() { "1" } else { &case.case }
}

/// The notes of all cases together, each once.
fn notes(kernel: &KernelResult) -> Vec<(String, u64)> {
    let mut together: Vec<(String, u64)> = Vec::new();
    for note in kernel.cases.iter().flat_map(|case| &case.notes) {
        let place = match (note.file.as_str(), note.line) {
            ("", _) => String::new(),
            (file, 0) => format!(" ({file})"),
            (file, line) => format!(" ({file}:{line})"),
        };
        let text = format!("{}{place}", note.text);
        match together.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += note.count,
            None => together.push((text, note.count)),
        }
    }
    together
}
