//! How fast a kernel is: verified, then timed, over the sizes of a sweep, against a roofline and a saved run.
//!
//! A case is first launched and compared like any other: a kernel that is wrong is not timed. Its times are those of the
//! stream's events. On the CPU they are times of the simulator, and every output says so ([`Measures`]).

mod baseline;
mod csv;
mod plot;
mod report;
mod roofline;
mod stats;
mod sweep;

use std::time::{Duration, Instant};

use pto_context::{Context, Event};
use pto_launch::Timing;
use pto_platform::{Soc, Target};

pub use baseline::{Baseline, BaselineError, Comparison, Thresholds, Trend};
pub use csv::to_csv;
pub use plot::{PlotError, plot};
pub use report::{BenchReport, BenchedCase, BenchedKernel, Measures, Times};
pub use roofline::{Peaks, Roofline};
pub use stats::{Stats, human};
pub use sweep::{Sweep, sweep_cases};

use crate::cases::{Case, Cores, bind, cost};
use crate::manifest::{Dir, Manifest};
use crate::run::case::CaseRunner;
use crate::run::{
    CaseResult, CaseStatus, Fault, HostFacts, KernelResult, KernelStatus, Launching, NotTried, Problem, RunError,
    Setup, Suite, TestOptions, Tried, Workshop, build_kernel, fit, select_cases, suggested_target,
};

/// Launches before the first that counts.
pub const DEFAULT_WARMUP: u32 = 3;
/// Launches that are timed. Enough for a median and its deviation, little enough for the simulator.
pub const DEFAULT_REPEATS: u32 = 20;

/// Whether caches are written over before each launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Flush {
    /// On a device; a simulator has none.
    #[default]
    Auto,
    /// As many bytes as the SoC's L2 has.
    On,
    /// Never: the data of the last launch may lie in the cache.
    Off,
}

/// What to time, and how.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// SoC, cases and seed, as for a test.
    pub test: TestOptions,
    /// Dims to vary; with any, the manifest's cases do not count.
    pub sweep: Vec<Sweep>,
    /// Launches before the first that counts.
    pub warmup: u32,
    /// Launches that are timed, at least 1.
    pub repeats: u32,
    /// Whether caches are written over.
    pub flush: Flush,
    /// What the machine can do at most, where the SoC table does not say it.
    pub peaks: Peaks,
}

/// The target that this machine suggests for a suite, where nobody names one: that of its first kernel. Times of several
/// targets have no place in one report.
pub fn target_on_host(cx: &Context, setup: &Setup, suite: &Suite) -> Target {
    let host = HostFacts::ask(cx, &setup.worker);
    suite.kernels.first().map_or(Target::Cpu, |kernel| suggested_target(cx, &host, kernel, None))
}

/// Times all kernels of a suite, one after the other. One that the user ended is a result like the others.
///
/// # Errors
/// As [`Suite::each`].
pub fn bench_kernels(
    cx: &Context,
    workshop: &Workshop,
    suite: Suite,
    options: &BenchOptions,
) -> Result<BenchReport, RunError> {
    let target = workshop.target();
    for message in options.sweep.iter().filter_map(Sweep::note) {
        cx.emit(Event::Warning { message });
    }
    let tried = suite.each(|kernel| match bench_kernel(cx, workshop, kernel, options) {
        Err(error) if error.fault() == Fault::Interrupt => {
            let why = NotTried { status: KernelStatus::Interrupted, problem: Problem::from(&error), usage: false };
            let result = KernelResult::not_tried(kernel.name.clone(), kernel.path.clone(), target, why);
            Ok(BenchedKernel::not_tried(result))
        }
        benched => benched,
    })?;
    let kernel = |Tried { name, path, result }: Tried<BenchedKernel>| {
        result.unwrap_or_else(|why| BenchedKernel::not_tried(KernelResult::not_tried(name, path, target, why)))
    };
    Ok(BenchReport::new(target, tried.into_iter().map(kernel).collect()))
}

/// Builds a kernel, then verifies and times its cases one by one: two at once would time each other.
///
/// # Errors
/// The kernel could not be tried: see [`RunError::fault`].
pub fn bench_kernel(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    options: &BenchOptions,
) -> Result<BenchedKernel, RunError> {
    let start = Instant::now();
    let launching = Launching::choose(cx, workshop, manifest, &options.test)?;
    let repeats = launching.repeats(cx, options.test.repeats, true)?;
    let soc = launching.soc;
    let cases = cases(manifest, workshop.target(), soc, options)?;
    let built = build_kernel(cx, workshop, manifest, soc).map_err(|error| error.in_manifest(manifest))?;
    fit::check(&built, workshop.target(), launching.path)?;
    let pool = launching.pool(cx, manifest)?;
    let runner = CaseRunner::new(cx, workshop, manifest, &built, &launching, &pool, repeats);
    let timing = Timing {
        warmup: options.warmup,
        repeats: options.repeats,
        flush_bytes: flush_bytes(options, soc, workshop.target()),
    };
    let bench = Bench { runner: &runner, timing, peaks: options.peaks.or_of(manifest, soc, workshop.target()) };
    let (mut verified, mut timed) = (Vec::new(), Vec::new());
    for case in &cases {
        let (result, benched) = bench.case(case).map_err(|error| error.in_manifest(manifest))?;
        verified.push(result);
        timed.push(benched);
    }
    let result = KernelResult::new(
        manifest,
        workshop.target(),
        &launching,
        None,
        built.report.clone(),
        verified,
        start.elapsed(),
    );
    Ok(BenchedKernel::new(result, timing, timed))
}

fn cases(manifest: &Manifest, target: Target, soc: &Soc, options: &BenchOptions) -> Result<Vec<Case>, RunError> {
    if options.sweep.is_empty() {
        return select_cases(manifest, target, soc, &options.test);
    }
    let base = select_cases(manifest, target, soc, &TestOptions { case: None, ..options.test.clone() })?;
    Ok(sweep_cases(manifest, &base[0], &options.sweep)?)
}

fn flush_bytes(options: &BenchOptions, soc: &Soc, target: Target) -> usize {
    let flushes = match options.flush {
        Flush::Auto => target != Target::Cpu,
        Flush::On => true,
        Flush::Off => false,
    };
    if flushes { usize::try_from(soc.l2_bytes).unwrap_or(0) } else { 0 }
}

/// One kernel, ready to be timed.
struct Bench<'a> {
    runner: &'a CaseRunner<'a>,
    timing: Timing,
    peaks: Peaks,
}

impl Bench<'_> {
    fn case(&self, case: &Case) -> Result<(CaseResult, BenchedCase), RunError> {
        let result = self.runner.run(case)?;
        if !result.passed() {
            let benched = BenchedCase::untimed(&result);
            return Ok((result, benched));
        }
        // The stream's clock on a model is the model's, in which minutes are microseconds.
        let of_one = if self.runner.launching.path.is_model() { Some(result.seconds) } else { result.device_seconds };
        let expected = Duration::try_from_secs_f64(of_one.unwrap_or(0.0)).unwrap_or_default();
        let (cx, task) = (self.runner.cx, format!("bench:{} {case}", self.runner.manifest.name));
        let count = self.timing.warmup + self.timing.repeats;
        let message = format!("Timing {} {case}, {count} launches", self.runner.manifest.name);
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let launched = self.runner.time(case, self.timing, expected)?;
        let samples: Vec<f64> = launched.samples.iter().map(Duration::as_secs_f64).collect();
        let benched = match (CaseStatus::of(&launched.verdict), Stats::of(&samples)) {
            (None, Some(stats)) => self.timed(case, &result, stats, samples)?,
            (None, None) => BenchedCase { message: "gave no times".to_owned(), ..BenchedCase::untimed(&result) },
            // It ran once and not again: that is a verdict on the kernel.
            (Some(status), _) => {
                BenchedCase { status, message: launched.verdict.to_string(), ..BenchedCase::untimed(&result) }
            }
        };
        let median = benched.times.seconds.as_ref().map_or("no times".to_owned(), |stats| human(stats.median));
        cx.emit(Event::Finished { task, message: format!("{} {case}: {median}", self.runner.manifest.name) });
        Ok((result, benched))
    }

    fn timed(
        &self,
        case: &Case,
        result: &CaseResult,
        stats: Stats,
        samples: Vec<f64>,
    ) -> Result<BenchedCase, RunError> {
        let manifest = self.runner.manifest;
        let bytes = match &manifest.bench.bytes {
            Some(expr) => cost(manifest, case, expr, "bytes")?,
            None => self.bytes_of_buffers(case)?,
        };
        let flops = manifest.bench.flops.as_ref().map(|expr| cost(manifest, case, expr, "flops")).transpose()?;
        Ok(BenchedCase::timed(result, stats, samples, bytes, flops, &self.peaks))
    }

    /// Every input and output once, what is both twice.
    fn bytes_of_buffers(&self, case: &Case) -> Result<i64, RunError> {
        let bound = bind(self.runner.manifest, case, Cores::from(self.runner.launching.soc))?;
        let moved = bound.tensors().map(|(_, tensor)| match tensor.dir {
            Dir::In | Dir::Out => tensor.bytes,
            Dir::InOut => 2 * tensor.bytes,
            Dir::Workspace => 0,
        });
        Ok(i64::try_from(moved.sum::<usize>()).unwrap_or(i64::MAX))
    }
}
