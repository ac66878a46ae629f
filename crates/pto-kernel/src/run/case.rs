//! One case: inputs, golden, launch, judgement.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pto_acl::LoadPlan;
use pto_context::{Context, Event, with_causes};
use pto_golden::{Tensor, poison};
use pto_launch::{
    Argument, Buffer, DevicePool, Init, LaunchPath, LaunchRequest, Launched, Limits, Scalar, Timing, host_acl, launch,
    simulate,
};
use pto_platform::Soc;

use super::build::Built;
use super::case_result::{CaseResult, CaseStatus};
use super::deadlines::{Pace, limits};
use super::error::RunError;
use super::judge::judge;
use super::launching::{LaunchReport, Launching};
use super::workshop::Workshop;
use super::{golden, inputs};
use crate::cases::{BoundCase, BoundTensor, BoundValue, Case, Cores, ScalarValue, bind};
use crate::manifest::{Dir, Manifest, ScalarType, SignatureItem};

/// A kernel that was built, and where it runs.
pub(crate) struct CaseRunner<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) workshop: &'a Workshop,
    pub(crate) manifest: &'a Manifest,
    pub(crate) built: &'a Built,
    pub(crate) launching: &'a Launching,
    pub(crate) pace: Pace,
    /// How often each case is launched.
    pub(crate) repeats: u32,
    /// The devices it may run on; nobody's on the CPU and on a model.
    pub(crate) devices: Option<&'a DevicePool>,
}

impl<'a> CaseRunner<'a> {
    /// For a kernel that was built, on what was chosen for it. `repeats` is how often each case is launched.
    pub(crate) fn new(
        cx: &'a Context,
        workshop: &'a Workshop,
        manifest: &'a Manifest,
        built: &'a Built,
        launching: &'a Launching,
        pool: &'a DevicePool,
        repeats: u32,
    ) -> Self {
        let pace = Pace::of(cx, launching.path);
        let devices = (launching.path == LaunchPath::Direct).then_some(pool);
        Self { cx, workshop, manifest, built, launching, pace, repeats, devices }
    }
}

impl CaseRunner<'_> {
    /// Runs one case, and tells of it.
    pub(crate) fn run(&self, case: &Case) -> Result<CaseResult, RunError> {
        let name = format!("{} {case}", self.manifest.name);
        let task = format!("case:{name}");
        self.cx.emit(Event::Started { task: task.clone(), message: format!("Running {name}"), total_bytes: None });
        let result = self.try_case(case)?;
        let message = format!("{name}: {} ({:.1} s)", result.status.word(), result.seconds);
        self.cx.emit(Event::Finished { task, message });
        Ok(result)
    }

    fn try_case(&self, case: &Case) -> Result<CaseResult, RunError> {
        if pto_process::interrupt::requested() {
            return Err(RunError::Interrupted);
        }
        let start = Instant::now();
        let bound = bind(self.manifest, case, Cores::from(self.launching.soc))?;
        let mut result = CaseResult::started(case, self.workshop.target(), bound.block_dim, self.repeats);
        let inputs = inputs::make(self.manifest, &bound)?;
        match golden::make(self.cx, self.manifest, &bound, &inputs)? {
            Err(why) => {
                result.status = CaseStatus::NoGolden;
                (result.message, result.hint) = (why.why, why.hint);
            }
            Ok(golden) => {
                self.launch_and_judge(case, &bound, &inputs, &golden, &mut result)?;
            }
        }
        result.seconds = start.elapsed().as_secs_f64();
        Ok(result)
    }

    /// Launches one case and then times it. `expected` is how long a launch takes: a deadline has to leave room for all.
    pub(crate) fn time(&self, case: &Case, timing: Timing, expected: Duration) -> Result<Launched, RunError> {
        let bound = bind(self.manifest, case, Cores::from(self.launching.soc))?;
        let inputs = inputs::make(self.manifest, &bound)?;
        self.launch(case, &bound, &inputs, Some((timing, expected)))
    }

    /// Without a device a case is blocked, and what others gave before stays.
    fn launch_and_judge(
        &self,
        case: &Case,
        bound: &BoundCase,
        inputs: &BTreeMap<String, Tensor>,
        golden: &BTreeMap<String, Tensor>,
        result: &mut CaseResult,
    ) -> Result<(), RunError> {
        match self.launch(case, bound, inputs, None) {
            Ok(launched) => {
                result.launch = Some(LaunchReport::new(self.launching, &launched));
                judge(self.manifest, bound, launched, inputs, golden, result)
            }
            Err(RunError::Launch(error)) if error.is_about_devices() => {
                result.status = CaseStatus::Blocked;
                (result.message, result.hint) = (with_causes(&error), error.hint());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn launch(
        &self,
        case: &Case,
        bound: &BoundCase,
        inputs: &BTreeMap<String, Tensor>,
        timed: Option<(Timing, Duration)>,
    ) -> Result<Launched, RunError> {
        let limits = limits(self.cx, self.pace)?;
        let for_times = timed.map_or(Duration::ZERO, time_for);
        let on_cpu = self.launching.path == LaunchPath::Cpu;
        let request = LaunchRequest {
            library: self.built.library.clone(),
            symbol: self.built.symbol.clone(),
            arguments: arguments(self.manifest, bound, inputs),
            acl: acl_candidates(self.cx, self.workshop, on_cpu)?,
            device: self.launching.device_number(),
            memory_limit: on_cpu.then(physical_memory),
            repeats: if timed.is_some() { 1 } else { self.repeats },
            timing: timed.map(|(timing, _)| timing),
            limits: Limits { process: limits.process + for_times, ..limits },
        };
        let worker = &self.workshop.setup.worker;
        if let Some(model) = &self.launching.model {
            let simulation = model.simulation(self.cx, self.workshop, self.manifest, case, &request, for_times)?;
            return Ok(simulate(self.cx, worker, &request, &simulation)?);
        }
        let cx = if on_cpu { playing(self.cx, self.launching.soc) } else { self.cx.clone() };
        Ok(match self.devices {
            Some(devices) => devices.launch(&cx, worker, &request)?,
            None => launch(&cx, worker, &request)?,
        })
    }
}

/// What all timed launches may take beyond the deadline of one: four times what is expected, and a tenth of a second for
/// each to write over caches.
fn time_for((timing, expected): (Timing, Duration)) -> Duration {
    (expected * 4 + Duration::from_millis(100)) * timing.warmup.saturating_add(timing.repeats)
}

fn acl_candidates(cx: &Context, workshop: &Workshop, on_cpu: bool) -> Result<Vec<PathBuf>, RunError> {
    if on_cpu {
        return Ok(vec![host_acl(cx, workshop.setup.worker.program())?]);
    }
    Ok(LoadPlan::cann(cx).candidates().to_vec())
}

/// The host ACL library tells a kernel's host code about the SoC that is played.
fn playing(cx: &Context, soc: &Soc) -> Context {
    cx.clone()
        .with_var("PTO_ACLSIM_SOC", soc.name)
        .with_var("PTO_ACLSIM_CUBE_CORES", soc.cube_cores.to_string())
        .with_var("PTO_ACLSIM_VECTOR_CORES", soc.vector_cores.to_string())
}

fn physical_memory() -> u64 {
    let info = rustix::system::sysinfo();
    #[expect(clippy::useless_conversion, reason = "the field's width differs by platform")]
    (u64::from(info.totalram) * u64::from(info.mem_unit))
}

fn arguments(manifest: &Manifest, bound: &BoundCase, inputs: &BTreeMap<String, Tensor>) -> Vec<Argument> {
    let argument = |item: &SignatureItem| match item {
        SignatureItem::BlockDim => Argument::BlockDim(bound.block_dim),
        SignatureItem::Stream => Argument::Stream,
        SignatureItem::Arg(index) => {
            let arg = &bound.args[*index];
            match &arg.value {
                BoundValue::Tensor(tensor) => Argument::Buffer(buffer(&arg.name, tensor, inputs)),
                BoundValue::Scalar(value) => Argument::Scalar(scalar(*value)),
            }
        }
    };
    manifest.launch.signature.iter().map(argument).collect()
}

/// Outputs and workspace hold a pattern before the launch, so that what nobody wrote can be told. Inputs come back as well:
/// a kernel must leave them alone.
fn buffer(name: &str, tensor: &BoundTensor, inputs: &BTreeMap<String, Tensor>) -> Buffer {
    let init = match inputs.get(name) {
        Some(input) => Init::Bytes(input.bytes().to_vec()),
        None => Init::Pattern(poison(tensor.dtype, 1)),
    };
    Buffer { name: name.to_owned(), bytes: tensor.bytes, init, output: tensor.dir != Dir::Workspace }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value was checked against its type when it was bound"
)]
fn scalar(value: ScalarValue) -> Scalar {
    match value {
        ScalarValue::Float { dtype: ScalarType::F32, value } => Scalar::F32(value as f32),
        ScalarValue::Float { value, .. } => Scalar::F64(value),
        ScalarValue::Integer { dtype, value } => match dtype {
            ScalarType::I8 => Scalar::I8(value as i8),
            ScalarType::I16 => Scalar::I16(value as i16),
            ScalarType::I32 => Scalar::I32(value as i32),
            ScalarType::I64 => Scalar::I64(value as i64),
            ScalarType::U8 => Scalar::U8(value as u8),
            ScalarType::U16 => Scalar::U16(value as u16),
            ScalarType::U32 => Scalar::U32(value as u32),
            ScalarType::U64 => Scalar::U64(value as u64),
            ScalarType::F32 => Scalar::F32(value as f32),
            ScalarType::F64 => Scalar::F64(value as f64),
        },
    }
}
