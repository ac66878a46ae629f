//! What a bench found.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pto_launch::{LaunchPath, Timing};
use pto_platform::Target;
use serde::{Deserialize, Serialize};

use super::baseline::{Baseline, Comparison, Thresholds, Trend};
use super::roofline::{Peaks, Roofline};
use super::stats::Stats;
use crate::run::{CaseResult, CaseStatus, KernelResult, KernelStatus, Problem};

/// A spread (MAD by median) above this makes a time doubtful.
const NOISY: f64 = 0.05;

/// All kernels of a bench.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    /// [`BenchReport::SCHEMA`].
    pub schema: &'static str,
    /// What the times are times of.
    pub measures: Measures,
    /// The same in words.
    pub note: &'static str,
    /// Whether every case is right, was timed, and did not get slower.
    pub passed: bool,
    /// The kernels in the order they were asked for.
    pub kernels: Vec<BenchedKernel>,
}

/// What times are times of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measures {
    /// A device.
    Device,
    /// CANN's model of one.
    Model,
    /// The CPU back end: how long this machine takes to play a device.
    CpuSimulator,
}

impl Measures {
    /// What a kernel really ran on decides, not what it was built for.
    fn of(target: Target, kernels: &[BenchedKernel]) -> Self {
        let paths = || kernels.iter().filter_map(|kernel| Some(kernel.verified.launch.as_ref()?.path));
        match target {
            Target::Cpu => Self::CpuSimulator,
            _ if paths().any(LaunchPath::is_model) => Self::Model,
            _ => Self::Device,
        }
    }

    /// The word in JSON and CSV.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Model => "model",
            Self::CpuSimulator => "cpu_simulator",
        }
    }

    /// What to make of the times.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Device => "times of the device, by events of the stream",
            Self::Model => "times of CANN's model: no performance of a device may be claimed with them",
            Self::CpuSimulator => "times of the CPU simulator: they say nothing about a device",
        }
    }
}

/// One kernel on one target.
#[derive(Debug, Serialize)]
pub struct BenchedKernel {
    /// Its name.
    pub name: String,
    /// Its manifest.
    pub path: PathBuf,
    /// The target.
    pub target: Target,
    /// The SoC whose cores were counted; on the CPU the one that was played.
    pub soc: Option<&'static str>,
    /// How it ended.
    pub status: KernelStatus,
    /// Why it could not be tried, when it could not.
    pub error: Option<Problem>,
    /// How it was timed; nothing if it was not.
    pub timing: Option<Timing>,
    /// Its cases.
    pub cases: Vec<BenchedCase>,
    /// The runs that were compared with golden tensors before anything was timed.
    #[serde(skip)]
    pub verified: KernelResult,
}

/// One case.
#[derive(Debug, Clone, Serialize)]
pub struct BenchedCase {
    /// The case as the command line takes it, `n=4096`.
    pub case: String,
    /// The dynamic dims.
    pub dims: BTreeMap<String, i64>,
    /// Blocks launched.
    pub block_dim: u32,
    /// How it ended: only what passed is timed.
    pub status: CaseStatus,
    /// The same in one line.
    pub message: String,
    /// What it took, and what that makes by the second.
    #[serde(flatten)]
    pub times: Times,
    /// How far the median is from the least possible; nothing where no peak is known.
    pub roofline: Option<Roofline>,
    /// What is doubtful about the times.
    pub warnings: Vec<String>,
    /// How it compares with a saved run; nothing without one.
    pub comparison: Option<Comparison>,
}

/// The times of a case, as reports and records have them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// What the times say; nothing if it was not timed.
    pub seconds: Option<Stats>,
    /// The times in their order, in seconds.
    pub samples: Vec<f64>,
    /// Bytes moved to and from device memory.
    pub bytes: Option<i64>,
    /// Floating-point operations.
    pub flops: Option<i64>,
    /// `bytes` by the median, in GB/s.
    pub gbps: Option<f64>,
    /// `flops` by the median, in GFLOP/s.
    pub gflops: Option<f64>,
}

impl BenchReport {
    /// The schema of the JSON document, and of a baseline.
    pub const SCHEMA: &'static str = "ptokit.kernel-bench/1";

    pub(super) fn new(target: Target, kernels: Vec<BenchedKernel>) -> Self {
        let measures = Measures::of(target, &kernels);
        let mut report = Self { schema: Self::SCHEMA, measures, note: measures.note(), passed: false, kernels };
        report.judge();
        report
    }

    /// Holds every case against a saved run.
    pub fn compare(&mut self, baseline: &Baseline, thresholds: Thresholds) {
        let measures = self.measures;
        for kernel in &mut self.kernels {
            let (name, target, soc, timing) = (kernel.name.clone(), kernel.target, kernel.soc, kernel.timing);
            for case in &mut kernel.cases {
                let Some(stats) = &case.times.seconds else { continue };
                case.comparison =
                    Some(baseline.compare(&name, target, soc, timing, measures, &case.case, stats, thresholds));
            }
        }
        self.judge();
    }

    fn judge(&mut self) {
        let counted = || self.kernels.iter().filter(|kernel| kernel.status != KernelStatus::Skipped);
        let slower =
            |case: &BenchedCase| case.comparison.as_ref().is_some_and(|comparison| comparison.trend == Trend::Slower);
        let good = |case: &BenchedCase| case.times.seconds.is_some() && !slower(case);
        let passed = |kernel: &BenchedKernel| kernel.status == KernelStatus::Passed && kernel.cases.iter().all(good);
        self.passed = counted().next().is_some() && counted().all(passed);
    }
}

impl BenchedKernel {
    pub(super) fn new(verified: KernelResult, timing: Timing, cases: Vec<BenchedCase>) -> Self {
        let all = cases.iter().all(|case| case.times.seconds.is_some());
        let status = match verified.status {
            KernelStatus::Passed if !all => KernelStatus::Failed,
            status => status,
        };
        Self { status, timing: Some(timing), cases, ..Self::not_tried(verified) }
    }

    pub(super) fn not_tried(verified: KernelResult) -> Self {
        Self {
            name: verified.name.clone(),
            path: verified.path.clone(),
            target: verified.target,
            soc: verified.soc,
            status: verified.status,
            error: verified.error.clone(),
            timing: None,
            cases: Vec::new(),
            verified,
        }
    }
}

impl BenchedCase {
    pub(super) fn untimed(result: &CaseResult) -> Self {
        Self {
            case: result.case.clone(),
            dims: result.dims.clone(),
            block_dim: result.block_dim,
            status: result.status,
            message: result.message.clone(),
            times: Times::default(),
            roofline: None,
            warnings: Vec::new(),
            comparison: None,
        }
    }

    pub(super) fn timed(
        result: &CaseResult,
        stats: Stats,
        samples: Vec<f64>,
        bytes: i64,
        flops: Option<i64>,
        peaks: &Peaks,
    ) -> Self {
        let rate = |amount: i64| (stats.median > 0.0).then(|| amount as f64 / stats.median / 1e9);
        let roofline = Roofline::of(peaks, bytes, flops, stats.median);
        Self {
            roofline,
            warnings: warnings(&stats, roofline),
            times: Times {
                seconds: Some(stats),
                samples,
                bytes: Some(bytes),
                flops,
                gbps: rate(bytes),
                gflops: flops.and_then(rate),
            },
            ..Self::untimed(result)
        }
    }
}

fn warnings(stats: &Stats, roofline: Option<Roofline>) -> Vec<String> {
    let above = roofline.filter(|roofline| roofline.above).map(|roofline| {
        format!(
            "the median is {:.2} times faster than the roofline allows: the timer missed asynchronous work, or what lay in a \
             cache is counted as bandwidth",
            roofline.share
        )
    });
    let spread = stats.spread();
    let noisy = (spread > NOISY).then(|| format!("the times vary: their MAD is {:.0} % of the median", spread * 100.0));
    above.into_iter().chain(noisy).collect()
}
