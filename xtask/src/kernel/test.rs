//! `kernel test`: compile, launch, compare.

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::cases::CaseFilter;
use pto_kernel::run::{
    CaseResult, CaseStatus, Fault, KernelResult, Report, TestOptions, Workshop, soc_for, test_kernel,
};
use pto_platform::{Soc, Target};

use super::select::select;
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome, chain};
use crate::setup::{Build, Common, generated_dir};
use crate::style;

/// `kernel test`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel test\n  cargo xtask kernel test vec_add --case n=4097 --seed 7\n  cargo xtask kernel test path/to/kernel --soc Ascend950PR_9599"
)]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
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
    #[arg(long, value_name = "CASE")]
    case: Option<CaseFilter>,
    /// What random inputs are made from
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How many cases run at once; never more than there are processors
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

pub(super) fn soc(name: &str) -> Result<&'static Soc, String> {
    Soc::by_name(name).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let kernels = select(&cx, &args.names)?;
    let workshop = args.build.workshop(&cx)?;
    let report = run_kernels(&cx, &workshop, &kernels, &args.options)?;
    save(&cx, &report)?;
    if args.common.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| Failure::io(&error.into()))?);
    } else {
        show(&report);
    }
    Ok(Outcome::passed_if(report.passed))
}

/// Tests one kernel after the other. One that does not compile is a negative verdict and does not stop the rest; one that
/// is malformed, or a machine that lacks something, does.
pub fn run_kernels(
    cx: &Context,
    workshop: &Workshop,
    kernels: &[Manifest],
    options: &Options,
) -> Result<Report, Failure> {
    let target = options.target.unwrap_or(Target::Cpu);
    let test = TestOptions {
        target: Some(target),
        soc: options.soc,
        case: options.case.clone(),
        seed: options.seed,
        jobs: options.jobs.map(usize::from),
    };
    let mut results = Vec::new();
    for kernel in kernels {
        match test_kernel(cx, workshop, kernel, &test, &|_| {}) {
            Ok(result) => results.push(result),
            Err(error) if error.fault() == Fault::Kernel => {
                let soc = soc_for(kernel, target, options.soc).map_or("", |soc| soc.name);
                results.push(KernelResult::not_tried(kernel, target, soc, chain(&error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Report::new(results))
}

/// `target/pto/report.json`.
pub fn save(cx: &Context, report: &Report) -> Result<(), Failure> {
    let dir = generated_dir(cx);
    fs_err::create_dir_all(&dir).map_err(|error| Failure::io(&error))?;
    let json = serde_json::to_vec_pretty(report).map_err(|error| Failure::io(&error.into()))?;
    // Whole or not at all: somebody may be reading the last one.
    let partial = dir.join(format!(".report.{}.json", std::process::id()));
    fs_err::write(&partial, json)
        .and_then(|()| fs_err::rename(&partial, dir.join("report.json")))
        .map_err(|error| Failure::io(&error))
}

/// The results for people.
pub fn show(report: &Report) {
    let mut table = Table::new(&["kernel", "target", "case", "from", "verdict", "worst error", "time"]);
    for kernel in &report.kernels {
        for (index, case) in kernel.cases.iter().enumerate() {
            table.row(row(kernel, case, index == 0));
        }
        if kernel.cases.is_empty() {
            table.row(vec![
                Cell::new(&kernel.name),
                Cell::new(kernel.target.name()),
                Cell::new("-"),
                Cell::new("-"),
                Cell::styled("does not build", |text| style::error(text)),
            ]);
        }
    }
    for line in table.lines() {
        anstream::println!("{line}");
    }
    anstream::println!();
    report.kernels.iter().for_each(explain);
    let totals = report.totals;
    let verdict = if report.passed { style::good("passed") } else { style::error("failed") };
    anstream::println!(
        "{verdict}: {} of {} cases passed in {} kernel{}",
        totals.passed,
        totals.cases,
        totals.kernels,
        if totals.kernels == 1 { "" } else { "s" }
    );
}

fn row(kernel: &KernelResult, case: &CaseResult, first: bool) -> Vec<Cell> {
    let verdict = case.status.word();
    vec![
        Cell::new(if first { kernel.name.clone() } else { String::new() }),
        Cell::new(if first { format!("{} ({})", kernel.target, kernel.soc) } else { String::new() }),
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
fn explain(kernel: &KernelResult) {
    if let Some(error) = &kernel.error {
        anstream::println!("{} {}: {error}\n", style::error("error:"), kernel.name);
    }
    for case in kernel.cases.iter().filter(|case| !case.passed()) {
        anstream::println!("{} {} {}: {}", style::error(case.status.word()), kernel.name, case.case, case.message);
        for (name, report) in case.outputs.iter().filter(|(_, report)| !report.passed()) {
            anstream::println!("  {}", format!("`{name}`: {report}").replace('\n', "\n  "));
        }
        if let Some(said) = &case.said {
            anstream::println!("  it wrote:\n    {}", said.trim_end().replace('\n', "\n    "));
        }
        anstream::println!(
            "  repeat: cargo xtask kernel test {} --case {} --seed {}\n",
            kernel.name,
            case_argument(case),
            case.seed
        );
    }
    for (text, count) in notes(kernel) {
        anstream::println!("{} {}: {text} ({count} times)", style::warning("note:"), kernel.name);
    }
    if let Some(warnings) = kernel.build.as_ref().map(|build| build.warnings.trim()).filter(|text| !text.is_empty()) {
        anstream::println!("{} {}: the compiler says\n{warnings}\n", style::warning("note:"), kernel.name);
    }
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
