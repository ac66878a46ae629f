//! Compile, launch, compare: the loop behind `kernel test`.
//!
//! [`Workshop`] is what the machine offers for a target (headers, compiler, worker, stores); [`test_kernel`] takes one
//! kernel through it and gives a [`KernelResult`], in which whatever the kernel did is a status and not an error. Only
//! what keeps a kernel from being tried at all is a [`RunError`], and that says whose fault it is. [`test_kernels`] tests
//! a [`Suite`] of kernels and gives a [`Report`], to which one that could not be tried belongs like the others.

mod advice;
mod assembly;
mod build;
pub(crate) mod case;
mod case_result;
mod deadlines;
mod error;
pub(crate) mod fit;
mod golden;
mod input;
mod inputs;
mod judge;
mod kernel_result;
mod launching;
mod on_host;
mod pins;
mod place;
mod plan;
mod repeats;
mod report;
mod suite;
mod workshop;

use std::time::Instant;

use pto_context::{Context, in_parallel};
use pto_launch::LaunchPath;
use pto_platform::{Soc, Target};

use crate::cases::{Case, CaseFilter, Cores, bind, derive};
use crate::manifest::Manifest;

pub use assembly::Assembled;
pub use build::{Built, build_kernel, cpu_request};
pub use case_result::{CaseResult, CaseStatus};
pub use deadlines::{MOST_REPEATS, Pace};
pub use error::RunError;
pub use kernel_result::{BuildReport, Chosen, KernelResult, KernelStatus, NotTried, Problem};
pub use launching::{HostFacts, LaunchReport, Launching, SimulationReport};
pub use on_host::{suggested_target, test_on_host};
pub use pins::{ACL_HEADERS, ARTIFACTS, PTO_ISA, zig};
pub use plan::{KernelPlan, plan_kernel};
pub use pto_context::Fault;
pub use repeats::{Difference, Repeats};
pub use report::{Report, Totals};
pub use suite::{Suite, Tried, test_kernels};
pub use workshop::{CpuTools, Fetching, HeaderSource, Setup, Workshop};

/// The seed when neither the manifest nor the user gives one: results are repeatable by default.
pub const DEFAULT_SEED: u64 = 1;

/// What to run of a kernel.
#[derive(Debug, Clone, Default)]
pub struct TestOptions {
    /// The SoC whose cores are counted, and which the CPU plays.
    pub soc: Option<&'static Soc>,
    /// The launch path that was asked for; the machine decides if nothing is said.
    pub launch: Option<LaunchPath>,
    /// Which cases.
    pub case: Option<CaseFilter>,
    /// What random inputs are made from.
    pub seed: Option<u64>,
    /// How many cases run at once; all cores if nothing is said.
    pub jobs: Option<usize>,
    /// How often each case is launched; as its target needs it if nothing is said.
    pub repeats: Option<u32>,
}

/// Builds a kernel for the workshop's target and runs its cases. `progress` is called after each case. Once the user has
/// asked for the end no further case is begun, and the result has those that were done.
///
/// # Errors
/// The kernel could not be tried: see [`RunError::fault`].
pub fn test_kernel(
    cx: &Context,
    workshop: &Workshop,
    manifest: &Manifest,
    options: &TestOptions,
    progress: &(dyn Fn(&CaseResult) + Sync),
) -> Result<KernelResult, RunError> {
    let start = Instant::now();
    let target = workshop.target();
    let launching = Launching::choose(cx, workshop, manifest, options)?;
    let repeats = launching.repeats(cx, options.repeats, false)?;
    let soc = launching.soc;
    let mut cases = select_cases(manifest, target, soc, options)?;
    let note = smallest_on_a_model(manifest, &launching, options, &mut cases)?;
    let built = build_kernel(cx, workshop, manifest, soc).map_err(|error| error.in_manifest(manifest))?;
    fit::check(&built, target, launching.path)?;
    let pool = launching.pool(cx, manifest)?;
    let runner = case::CaseRunner::new(cx, workshop, manifest, &built, &launching, &pool, repeats);
    let results = in_parallel(&cases, launching.jobs(options.jobs), |case| match runner.run(case) {
        Ok(result) => {
            progress(&result);
            Ok(Some(result))
        }
        // Those that were done before are worth keeping.
        Err(error) if error.fault() == Fault::Interrupt => Ok(None),
        Err(error) => Err(error.in_manifest(manifest)),
    })?;
    let mut done: Vec<CaseResult> = results.into_iter().flatten().collect();
    let hints = advice::advise(manifest, soc, &mut done);
    let interrupted = done.len() < cases.len();
    let result =
        KernelResult::new(manifest, target, &launching, note, built.report, done, start.elapsed()).with_hints(hints);
    Ok(if interrupted { result.interrupted() } else { result })
}

/// The model takes minutes for what a card does in microseconds: unless cases were asked for, the smallest has to do. What
/// is to be said of it.
fn smallest_on_a_model(
    manifest: &Manifest,
    launching: &Launching,
    options: &TestOptions,
    cases: &mut Vec<Case>,
) -> Result<Option<String>, RunError> {
    if !launching.path.is_model() || options.case.is_some() || cases.len() < 2 {
        return Ok(None);
    }
    let mut sizes = Vec::new();
    for case in cases.iter() {
        let bound = bind(manifest, case, Cores::from(launching.soc))?;
        sizes.push(bound.tensors().map(|(_, tensor)| tensor.bytes).sum::<usize>());
    }
    let smallest = (0..sizes.len()).min_by_key(|at| sizes[*at]).unwrap_or(0);
    let all = cases.len();
    cases.swap(0, smallest);
    cases.truncate(1);
    Ok(Some(format!("the smallest of {all} cases: the model is slow; `--case` names others")))
}

/// The cases that the options select, in the order of the manifest.
///
/// # Errors
/// The selection is malformed or selects nothing.
pub fn select_cases(
    manifest: &Manifest,
    target: Target,
    soc: &Soc,
    options: &TestOptions,
) -> Result<Vec<Case>, RunError> {
    let seed = options.seed.or(manifest.cases.seed).unwrap_or(DEFAULT_SEED);
    let cases = derive(manifest, target, Cores::from(soc), seed);
    let selected = match &options.case {
        Some(filter) => filter.select(manifest, &cases, seed)?,
        None => cases,
    };
    if selected.is_empty() {
        return Err(RunError::NoCases { kernel: manifest.name.clone() });
    }
    Ok(selected)
}

/// The SoC of a run: the one asked for if it fits the target, else the target's usual one. The CPU plays the first
/// generation that the kernel is written for.
///
/// # Errors
/// The SoC asked for is of another generation than the target.
pub fn soc_for(manifest: &Manifest, target: Target, asked: Option<&'static Soc>) -> Result<&'static Soc, RunError> {
    if !manifest.targets.contains(&target) {
        return Err(RunError::NotATarget { kernel: manifest.name.clone(), target, targets: manifest.targets.clone() });
    }
    let generation = match target {
        Target::Cpu => manifest.targets.iter().copied().find(|target| *target != Target::Cpu).unwrap_or(Target::A2a3),
        npu => npu,
    };
    let Some(asked) = asked else {
        return generation.default_soc().ok_or(RunError::NoSoc { target: generation });
    };
    let fits = match target {
        Target::Cpu => {
            asked.target().is_some_and(|of| manifest.targets.contains(&of) || manifest.targets == [Target::Cpu])
        }
        npu => asked.target() == Some(npu),
    };
    if fits { Ok(asked) } else { Err(RunError::WrongSoc { soc: asked.name, target, kernel: manifest.name.clone() }) }
}
