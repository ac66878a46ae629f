//! One case: inputs, golden, launch, comparison.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use pto_acl::LoadPlan;
use pto_context::{Context, Event};
use pto_golden::{Options, Tensor, compare_set, poison};
use pto_launch::{Argument, Buffer, Init, LaunchRequest, Launched, Scalar, Verdict, host_acl, launch};
use pto_platform::{Soc, Target};

use super::build::Built;
use super::error::RunError;
use super::report::{CaseResult, CaseStatus};
use super::workshop::{Deadlines, PROCESS_TIMEOUT_VARIABLE, SYNC_TIMEOUT_VARIABLE, Workshop};
use super::{golden, inputs};
use crate::cases::{BoundCase, BoundTensor, BoundValue, Case, Cores, ScalarValue, bind};
use crate::manifest::{Dir, Manifest, ScalarType, SignatureItem};

/// The device a kernel runs on unless the user's library says otherwise.
const DEVICE: u32 = 0;
/// As many of the last bytes that a kernel wrote are kept.
const LAST_SAID: usize = 2000;

/// A kernel that was built, and where it runs.
pub(super) struct Running<'a> {
    pub(super) cx: &'a Context,
    pub(super) workshop: &'a Workshop,
    pub(super) manifest: &'a Manifest,
    pub(super) built: &'a Built,
    pub(super) target: Target,
    pub(super) soc: &'static Soc,
}

impl Running<'_> {
    /// Runs one case, and tells of it.
    pub(super) fn case(&self, case: &Case) -> Result<CaseResult, RunError> {
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
        let bound = bind(self.manifest, case, Cores::from(self.soc))?;
        let mut result = CaseResult::started(case, self.target, bound.block_dim);
        let inputs = inputs::make(self.manifest, &bound)?;
        match golden::make(self.cx, self.manifest, &bound, &inputs)? {
            Err(why) => {
                result.status = CaseStatus::NoGolden;
                result.message = why;
            }
            Ok(golden) => {
                let launched = self.launch(&bound, &inputs)?;
                judge(self.manifest, &bound, launched, &inputs, &golden, &mut result)?;
            }
        }
        result.seconds = start.elapsed().as_secs_f64();
        Ok(result)
    }

    fn launch(&self, bound: &BoundCase, inputs: &BTreeMap<String, Tensor>) -> Result<Launched, RunError> {
        let on_cpu = self.target == Target::Cpu;
        let deadlines = Deadlines::of(self.cx, self.target)?;
        let request = LaunchRequest {
            library: self.built.library.clone(),
            symbol: self.built.symbol.clone(),
            arguments: arguments(self.manifest, bound, inputs),
            acl: acl_candidates(self.cx, self.workshop, on_cpu)?,
            device: DEVICE,
            memory_limit: on_cpu.then(physical_memory),
            sync_timeout: deadlines.sync,
            process_timeout: deadlines.process,
        };
        let cx = if on_cpu { playing(self.cx, self.soc) } else { self.cx.clone() };
        Ok(launch(&cx, &self.workshop.setup.worker, &request)?)
    }
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

fn judge(
    manifest: &Manifest,
    bound: &BoundCase,
    launched: Launched,
    inputs: &BTreeMap<String, Tensor>,
    golden: &BTreeMap<String, Tensor>,
    result: &mut CaseResult,
) -> Result<(), RunError> {
    result.notes = launched.notes;
    result.device_seconds = launched.device_time.map(|time| time.as_secs_f64());
    result.message = with_buffer_names(launched.verdict.to_string(), manifest, bound);
    result.hint = launched.verdict.hint().map(str::to_owned).or_else(|| hint(&launched.verdict));
    result.status = match launched.verdict {
        Verdict::Fault { .. } => CaseStatus::Fault,
        Verdict::Crashed { .. } => CaseStatus::Crashed,
        Verdict::Exited { .. } => CaseStatus::Exited,
        Verdict::Hung { .. } => CaseStatus::Hung,
        Verdict::Completed => {
            let changed = changed_input(bound, inputs, &launched.outputs);
            let actual = tensors(bound, launched.outputs)?;
            let report = compare_set(&actual, golden, |name, golden| {
                let poisoned = bound.tensors().any(|(arg, tensor)| arg == name && tensor.dir == Dir::Out);
                let reason = manifest.tolerance.get(name).and_then(|given| given.reason.clone());
                (manifest.tolerance_of(name, golden.dtype()), Options { poisoned, reason, ..Options::default() })
            });
            result.message = report.summary();
            let passed = report.passed();
            result.outputs = report.outputs;
            match changed {
                Some(change) if passed => {
                    result.message = change;
                    CaseStatus::Differs
                }
                _ if passed => CaseStatus::Passed,
                _ => CaseStatus::Differs,
            }
        }
    };
    if !result.passed() && !launched.said.trim().is_empty() {
        result.said = Some(tail(&launched.said));
    }
    Ok(())
}

/// The first input that does not hold what it was given. On a device that would be the caller's own tensor.
fn changed_input(
    bound: &BoundCase,
    inputs: &BTreeMap<String, Tensor>,
    after: &BTreeMap<String, Vec<u8>>,
) -> Option<String> {
    bound.tensors().filter(|(_, tensor)| tensor.dir == Dir::In).find_map(|(name, tensor)| {
        let (before, after) = (inputs.get(name)?, after.get(name)?);
        let changed = |(before, after): (&[u8], &[u8])| before != after;
        let size = tensor.dtype.size();
        let mut elements = before.bytes().chunks(size).zip(after.chunks(size));
        let first = elements.position(changed)?;
        let count = 1 + elements.filter(|pair| changed(*pair)).count();
        let of = tensor.elements;
        Some(format!(
            "the kernel wrote to its input `{name}`: {count} of {of} elements, the first at {:?}",
            before.coordinates(first)
        ))
    })
}

fn hint(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Hung { .. } => Some(format!(
            "a kernel that is slow and not hung needs a higher `{SYNC_TIMEOUT_VARIABLE}` or `{PROCESS_TIMEOUT_VARIABLE}`"
        )),
        _ => None,
    }
}

/// The host ACL library numbers buffers in the order in which they are allocated, which is that of the launcher.
fn with_buffer_names(message: String, manifest: &Manifest, bound: &BoundCase) -> String {
    let buffers = manifest.launch.signature.iter().filter_map(|item| match item {
        SignatureItem::Arg(index) => Some(&bound.args[*index]).filter(|arg| matches!(arg.value, BoundValue::Tensor(_))),
        _ => None,
    });
    // From the last, so that `#1` does not match in `#10`.
    let names: Vec<_> = buffers.map(|arg| &arg.name).enumerate().collect();
    names.into_iter().rev().fold(message, |message, (index, name)| {
        let number = format!("device buffer #{}", index + 1);
        message.replace(&number, &format!("device buffer of `{name}`"))
    })
}

fn tensors(bound: &BoundCase, outputs: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Tensor>, RunError> {
    let mut tensors = BTreeMap::new();
    for (name, bytes) in outputs {
        if let Some((_, declared)) = bound.tensors().find(|(arg, tensor)| *arg == name && tensor.dir.is_output()) {
            let tensor = Tensor::new(declared.dtype, declared.shape.clone(), bytes)?;
            tensors.insert(name, tensor);
        }
    }
    Ok(tensors)
}

/// Whole lines, as far as there are any.
fn tail(text: &str) -> String {
    let start = text.len().saturating_sub(LAST_SAID);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = &text[start..];
    match tail.split_once('\n') {
        Some((_, whole)) if start > 0 && !whole.is_empty() => whole.to_owned(),
        _ => tail.to_owned(),
    }
}
