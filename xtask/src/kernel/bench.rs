//! `kernel bench`: verify, then time.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use pto_kernel::KernelError;
use pto_kernel::bench::{
    Baseline, BenchOptions, BenchReport, BenchedCase, DEFAULT_REPEATS, DEFAULT_WARMUP, Flush, Peaks, Stats, Sweep,
    Thresholds, Trend, bench_kernels, human, plot, target_on_host, to_csv,
};
use pto_kernel::cases::CaseFilter;
use pto_kernel::run::{KernelStatus, TestOptions, Workshop};
use pto_platform::{Soc, Target};

use super::record::{Asked, logbook};
use super::select::select;
use super::table::{Cell, Table};
use super::test::{case, soc, with_hint};
use crate::exit::{Failure, Outcome};
use crate::setup::{Build, Common, shown};
use crate::{out, style};

/// `kernel bench`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel bench vec_add --sweep n=4096..1048576:x4 --plot vec_add.svg\n  cargo xtask kernel bench vec_add --save before.json\n  cargo xtask kernel bench vec_add --baseline before.json"
)]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Target: cpu, a2a3 or a5 [default: what this machine has]
    #[arg(long, value_name = "TARGET")]
    target: Option<Target>,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// What is timed.
#[derive(Debug, Clone, clap::Args)]
struct What {
    /// SoC whose cores are counted, and which the CPU plays
    #[arg(long, value_name = "SOC", value_parser = soc)]
    soc: Option<&'static Soc>,
    /// Only this case: `n=4096`, `n=4096,m=3`, or its number
    #[arg(long, value_name = "CASE", value_parser = case, conflicts_with = "sweep")]
    case: Option<CaseFilter>,
    /// A dim to vary: `n=4096..1048576:x2`, `n=4096..65536:+4096` or `n=100,200`; several make all combinations
    #[arg(long, value_name = "SWEEP", value_parser = sweep)]
    sweep: Vec<Sweep>,
    /// What random inputs are made from
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

/// How it is timed, and what it is held against.
#[derive(Debug, Clone, clap::Args)]
struct How {
    /// Launches before the first that counts
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WARMUP, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    warmup: u32,
    /// Launches that are timed
    #[arg(long, value_name = "N", default_value_t = DEFAULT_REPEATS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeats: u32,
    /// Whether as much as the L2 holds is written before each launch; auto does so on a device
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    flush: When,
    /// What device memory can move at most, in GB/s
    #[arg(long, value_name = "GBPS", value_parser = peak)]
    peak_gbps: Option<f64>,
    /// What the cores can compute at most, in GFLOP/s [default: the cube's f16 rate of the SoC]
    #[arg(long, value_name = "GFLOPS", value_parser = peak)]
    peak_gflops: Option<f64>,
    /// By how many percent a median has to change to count
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = positive)]
    threshold: f64,
}

/// `--flush`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Auto,
    On,
    Off,
}

/// What is read and written.
#[derive(Debug, Clone, clap::Args)]
struct Files {
    /// Compare with a run that was saved; slower is a negative verdict
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Save the run, to be compared with later
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write one line for each case
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw times and bandwidth as an SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

fn sweep(given: &str) -> Result<Sweep, String> {
    given.parse().map_err(|error: KernelError| with_hint(&error, error.hint()))
}

fn positive(given: &str) -> Result<f64, String> {
    let number = given.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{given}` is not a number above 0"))
}

/// No machine has less or more; a share of such a peak says nothing.
fn peak(given: &str) -> Result<f64, String> {
    let number = given.parse().ok().filter(|number: &f64| (1e-6..=1e12).contains(number));
    number.ok_or_else(|| format!("`{given}` is not a number from 0.000001 to 1e12"))
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let baseline = args.files.baseline.as_deref().map(Baseline::load).transpose();
    let baseline = baseline.map_err(|error| Failure::usage(error.to_string(), "`--save FILE` makes one".to_owned()))?;
    args.files.check()?;
    let suite = select(&cx, &args.names)?;
    let setup = args.build.setup(&cx)?;
    let target = args.target.unwrap_or_else(|| target_on_host(&cx, &setup, &suite));
    let workshop = Workshop::open(&cx, setup, target)?;
    let asked = Asked::new(&cx, &suite, args.what.case.is_none() && args.what.sweep.is_empty());
    let mut report = bench_kernels(&cx, &workshop, suite, &args.options())?;
    if let Some(baseline) = &baseline {
        report.compare(baseline, Thresholds { share: args.how.threshold / 100.0, ..Thresholds::default() });
    }
    // What was found is kept before anything can go wrong with showing it.
    let recorded = asked.benched(&report);
    if report.kernels.iter().any(|kernel| kernel.status == KernelStatus::Interrupted) {
        recorded?;
        let (log, done) = (shown(&cx, &logbook(&cx).log()), cases(&report).count());
        return Err(Failure::interrupted_with(format!(
            "`{}` has the {done} cases that were done by then",
            log.display()
        )));
    }
    if args.common.json {
        out::json(&report)?;
    } else {
        out::text(&render(&report))?;
    }
    recorded?;
    args.files.write(&report)?;
    outcome(&report)
}

impl Args {
    fn options(&self) -> BenchOptions {
        let What { soc, case, sweep, seed } = self.what.clone();
        BenchOptions {
            test: TestOptions { soc, case, seed, ..TestOptions::default() },
            sweep,
            warmup: self.how.warmup,
            repeats: self.how.repeats,
            flush: match self.how.flush {
                When::Auto => Flush::Auto,
                When::On => Flush::On,
                When::Off => Flush::Off,
            },
            peaks: Peaks { gbps: self.how.peak_gbps, gflops: self.how.peak_gflops },
        }
    }
}

impl Files {
    /// What cannot be written is said before anything is timed.
    fn check(&self) -> Result<(), Failure> {
        let files: Vec<&PathBuf> = [&self.csv, &self.save, &self.plot].into_iter().flatten().collect();
        if let Some(twice) = files.iter().enumerate().find(|(at, file)| files[..*at].contains(file)) {
            let message = format!("`{}` is to be written twice, and one would replace the other", twice.1.display());
            return Err(Failure::usage(message, "name a file of its own for each".to_owned()));
        }
        files.into_iter().try_for_each(|path| out::refuse_unwritable(path))
    }

    fn write(&self, report: &BenchReport) -> Result<(), Failure> {
        let csv = self.csv.as_ref().map(|path| out::file(path, &to_csv(report)));
        let save = self.save.as_ref().map(|path| {
            let json = serde_json::to_string_pretty(report).map_err(|error| Failure::io(&error.into()))?;
            out::file(path, &(json + "\n"))
        });
        let drawn = self
            .plot
            .as_ref()
            .map(|path| out::file(path, &plot(report).map_err(|error| Failure::negative(error.to_string(), None))?));
        // One that fails keeps none of the others from being written.
        [csv, save, drawn].into_iter().flatten().collect()
    }
}

fn outcome(report: &BenchReport) -> Result<Outcome, Failure> {
    if report.kernels.iter().all(|kernel| kernel.status == KernelStatus::Skipped) {
        let hint = "`cargo xtask kernel list` shows which targets each is written for".to_owned();
        return Err(Failure::usage("no kernel here is written for this target on this SoC", hint));
    }
    let slower = Outcome::passed_if(!cases(report).any(|(_, case)| is_slower(case)));
    Ok(Outcome::of_all(report.kernels.iter().map(|kernel| kernel.status.into()).chain([slower])))
}

fn cases(report: &BenchReport) -> impl Iterator<Item = (&str, &BenchedCase)> {
    report.kernels.iter().flat_map(|kernel| kernel.cases.iter().map(|case| (kernel.name.as_str(), case)))
}

fn is_slower(case: &BenchedCase) -> bool {
    case.comparison.as_ref().is_some_and(|comparison| comparison.trend == Trend::Slower)
}

fn render(report: &BenchReport) -> String {
    let compared = cases(report).any(|(_, case)| case.comparison.is_some());
    let mut header = vec!["kernel", "case", "median", "MAD", "min", "max", "GB/s", "GFLOP/s", "roofline"];
    header.extend(compared.then_some("change"));
    let mut table = Table::new(&header);
    let mut before = "";
    for (name, case) in cases(report) {
        table.row(row(if name == before { "" } else { name }, case, compared));
        before = name;
    }
    let mut text = String::new();
    if cases(report).next().is_some() {
        text += &(table.lines().join("\n") + "\n\n");
    }
    for kernel in &report.kernels {
        if let Some(problem) = kernel.error.as_ref().filter(|_| kernel.status != KernelStatus::Skipped) {
            let _ = writeln!(text, "{} {}: {}", style::error("error:"), kernel.name, problem.message);
            if let Some(hint) = &problem.hint {
                let _ = writeln!(text, "{} {hint}", style::hint("hint:"));
            }
        }
    }
    for (name, case) in cases(report) {
        if case.times.seconds.is_none() {
            let _ = writeln!(
                text,
                "{} {name} {} is wrong and was not timed: {}",
                style::error("error:"),
                case.case,
                case.message
            );
        }
        for warning in &case.warnings {
            let _ = writeln!(text, "{} {name} {}: {warning}", style::warning("warning:"), case.case);
        }
        if let Some(reason) = case.comparison.as_ref().and_then(|comparison| comparison.reason.as_ref()) {
            let _ = writeln!(text, "{} {name} {}: {reason}", style::warning("not compared:"), case.case);
        }
    }
    let slower = cases(report).filter(|(_, case)| is_slower(case)).count();
    let verdict = match (report.passed, slower) {
        (true, _) => style::good("timed"),
        (false, 0) => style::error("failed"),
        (false, count) => style::error(format!("{count} slower")),
    };
    let timed = cases(report).filter(|(_, case)| case.times.seconds.is_some()).count();
    let _ = writeln!(text, "{verdict}: {timed} of {} cases; {}", cases(report).count(), report.note);
    text
}

fn row(name: &str, case: &BenchedCase, compared: bool) -> Vec<Cell> {
    let time = |of: fn(&Stats) -> f64| case.times.seconds.as_ref().map_or("-".to_owned(), |stats| human(of(stats)));
    let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.3}"));
    let mut cells = vec![
        Cell::new(name),
        Cell::new(&case.case),
        match case.times.seconds {
            Some(_) => Cell::new(time(|stats| stats.median)),
            None => Cell::styled(case.status.word(), |text| style::error(text)),
        },
        Cell::new(time(|stats| stats.mad)),
        Cell::new(time(|stats| stats.min)),
        Cell::new(time(|stats| stats.max)),
        Cell::new(rate(case.times.gbps)),
        Cell::new(rate(case.times.gflops)),
        Cell::new(case.roofline.map_or("-".to_owned(), |roofline| format!("{:.1} %", roofline.share * 100.0))),
    ];
    if compared {
        cells.push(change(case));
    }
    cells
}

/// `+12.0 % slower`.
fn change(case: &BenchedCase) -> Cell {
    let Some(comparison) = &case.comparison else { return Cell::new("-") };
    let change = comparison.change.map(|change| format!("{:+.1} % ", change * 100.0)).unwrap_or_default();
    let text = format!("{change}{}", comparison.trend.word());
    match comparison.trend {
        Trend::Slower => Cell::styled(text, |text| style::error(text)),
        Trend::Faster => Cell::styled(text, |text| style::good(text)),
        _ => Cell::new(text),
    }
}
