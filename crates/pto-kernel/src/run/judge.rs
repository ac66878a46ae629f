//! From what a launch gave to the result of its case.

use std::collections::BTreeMap;

use pto_golden::suite::Tail;
use pto_golden::{Criterion, Options, Region, Tensor, compare_set};
use pto_launch::{Launched, Verdict};

use super::case_result::{CaseResult, CaseStatus};
use super::deadlines::Deadlines;
use super::error::RunError;
use crate::cases::{BoundCase, BoundValue};
use crate::manifest::{Dir, Manifest, SignatureItem};

/// As many of the last bytes that a kernel wrote are kept.
const KEPT_OUTPUT: usize = 2000;

/// Writes into the result how the launch ended and, where it completed, how its outputs compare.
pub(super) fn judge(
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
    let told = launched.simulated.as_ref().and_then(|simulated| simulated.hint.clone());
    result.hint = match launched.verdict {
        Verdict::Completed => None,
        _ => told.or_else(|| launched.verdict.hint().map(str::to_owned)).or_else(|| hint(&launched.verdict)),
    };
    result.status = match launched.verdict {
        Verdict::Fault { .. } => CaseStatus::Fault,
        Verdict::Crashed { .. } => CaseStatus::Crashed,
        Verdict::Exited { .. } => CaseStatus::Exited,
        Verdict::Hung { .. } => CaseStatus::Hung,
        Verdict::Completed => {
            let changed = changed_input(bound, inputs, &launched.outputs);
            let actual = tensors(bound, launched.outputs)?;
            let report = compare_set(&actual, golden, |name, golden| {
                criterion(manifest, bound, name, golden, |scores| inputs.get(scores).or_else(|| actual.get(scores)))
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
        result.captured_output = Some(tail(&launched.said));
    }
    Ok(())
}

/// What an output is judged by in this case. `tensor` finds one by the name of its argument.
fn criterion<'a>(
    manifest: &Manifest,
    bound: &BoundCase,
    output: &str,
    golden: &Tensor,
    tensor: impl Fn(&str) -> Option<&'a Tensor>,
) -> Criterion {
    let declared = bound.tensors().find(|(arg, _)| *arg == output).map(|(_, tensor)| tensor);
    let given = manifest.tolerance.get(output);
    let spec = given.map(|given| given.spec.clone()).unwrap_or_default();
    let options = Options {
        poisoned: declared.is_some_and(|tensor| tensor.dir == Dir::Out),
        equal_nan: spec.equal_nan.unwrap_or(false),
        reason: spec.reason,
        ..Options::default()
    };
    Criterion {
        region: declared
            .and_then(|tensor| tensor.valid.clone())
            .map(|valid| Region { valid, zero_tail: spec.tail == Some(Tail::Zero) }),
        scores: given.and_then(|given| given.scores.as_deref()).and_then(tensor).cloned(),
        ..Criterion::new(manifest.rule_of(output, golden.dtype()), options)
    }
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
            "a kernel that is slow and not hung needs a higher `{}` or `{}`",
            Deadlines::SYNC_VARIABLE,
            Deadlines::PROCESS_VARIABLE
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
    let start = text.len().saturating_sub(KEPT_OUTPUT);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = &text[start..];
    match tail.split_once('\n') {
        Some((_, whole)) if start > 0 && !whole.is_empty() => whole.to_owned(),
        _ => tail.to_owned(),
    }
}
