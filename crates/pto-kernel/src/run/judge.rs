//! From what a launch gave to the result of its case.

use std::collections::BTreeMap;

use pto_golden::pattern::{self, Clues, Division};
use pto_golden::suite::Tail;
use pto_golden::{Criterion, Options, Region, Report as OutputReport, Rule, Tensor, compare_set};
use pto_launch::{Launched, Verdict};

use super::case_result::{CaseResult, CaseStatus};
use super::deadlines;
use super::error::RunError;
use crate::cases::{BoundCase, BoundValue, tile};
use crate::manifest::{ArgKind, Dir, Manifest, SignatureItem};

/// As many of the last bytes that a kernel wrote are kept.
const KEPT_OUTPUT: usize = 2000;

/// What makes the repeats of a kernel differ.
const RACE: &str = "look for a missing `set_flag`/`wait_flag` pair or `pipe_barrier`, cores that write the same place, and \
                    memory that is read before it was written";

/// Writes into the result how the launch ended and, where it completed, how its outputs compare.
pub(super) fn judge(
    manifest: &Manifest,
    bound: &BoundCase,
    mut launched: Launched,
    inputs: &BTreeMap<String, Tensor>,
    golden: &BTreeMap<String, Tensor>,
    result: &mut CaseResult,
) -> Result<(), RunError> {
    result.notes = std::mem::take(&mut launched.notes);
    result.device_seconds = launched.device_time.map(|time| time.as_secs_f64());
    result.repeats.take(&launched);
    result.message = with_buffer_names(launched.verdict.to_string(), manifest, bound);
    if result.repeats.asked > 1 && launched.verdict != Verdict::Completed {
        result.message += &format!(" (in repeat {} of {})", launched.repeat, result.repeats.asked);
    }
    let told = launched.simulated.as_ref().and_then(|simulated| simulated.hint.clone());
    result.hint = match launched.verdict {
        Verdict::Completed => None,
        _ => told.or_else(|| launched.verdict.hint().map(str::to_owned)).or_else(|| hint(&launched.verdict)),
    };
    result.status = match CaseStatus::of(&launched.verdict) {
        Some(status) => status,
        None => judge_outputs(&Judge { manifest, bound, inputs, golden }, &mut launched, result)?,
    };
    if !result.passed() && !launched.said.trim().is_empty() {
        result.captured_output = Some(tail(&with_buffer_names(launched.said, manifest, bound)));
    }
    Ok(())
}

/// What outputs are judged by.
struct Judge<'a> {
    manifest: &'a Manifest,
    bound: &'a BoundCase,
    inputs: &'a BTreeMap<String, Tensor>,
    golden: &'a BTreeMap<String, Tensor>,
}

/// The verdict on the outputs of one repeat.
struct Judged {
    passed: bool,
    message: String,
    outputs: BTreeMap<String, OutputReport>,
    overwritten: Option<String>,
}

/// Repeats that gave the same bits have the same verdict, so each variant is judged once.
fn judge_outputs(judge: &Judge<'_>, launched: &mut Launched, result: &mut CaseResult) -> Result<CaseStatus, RunError> {
    let (mut shown, first) = judge.one(std::mem::take(&mut launched.outputs))?;
    let mut right = vec![shown.passed];
    for variant in 1..launched.variants.count() {
        let (judged, outputs) = judge.one(launched.variants.read(variant).map_err(RunError::Io)?)?;
        if variant == 1 {
            result.repeats.take_difference(launched, &first, &outputs);
        }
        right.push(judged.passed);
        if shown.passed && !judged.passed {
            shown = judged;
        }
    }
    result.repeats.take_verdicts(launched, &right);
    (result.message, result.outputs, result.overwritten) = (shown.message, shown.outputs, shown.overwritten);
    if result.repeats.deterministic == Some(false) {
        result.message = result.repeats.sentence();
        if let Some(reason) = judge.manifest.launch.may_vary.as_ref().filter(|_| right.iter().all(|right| *right)) {
            result.message += &format!("; they may differ: {reason}");
            return Ok(CaseStatus::Passed);
        }
        result.hint = Some(RACE.to_owned());
        return Ok(CaseStatus::Nondeterministic);
    }
    Ok(if shown.passed { CaseStatus::Passed } else { CaseStatus::Differs })
}

impl Judge<'_> {
    /// Judges the outputs of a repeat, and gives them as tensors.
    fn one(&self, outputs: BTreeMap<String, Vec<u8>>) -> Result<(Judged, BTreeMap<String, Tensor>), RunError> {
        let changed = changed_input(self.bound, self.inputs, &outputs);
        let actual = tensors(self.bound, outputs)?;
        let mut report = compare_set(&actual, self.golden, |name, golden| {
            let tensor = |scores: &str| self.inputs.get(scores).or_else(|| actual.get(scores));
            criterion(self.manifest, self.bound, name, golden, tensor)
        });
        for (name, output) in report.outputs.iter_mut().filter(|(_, output)| !output.passed()) {
            self.look_again(name, &actual, output);
        }
        let right = report.passed();
        let message = changed.clone().filter(|_| right).unwrap_or_else(|| report.summary());
        let passed = right && changed.is_none();
        Ok((Judged { passed, message, outputs: report.outputs, overwritten: changed }, actual))
    }

    /// How an output is wrong, with what only the launch knows: the inputs, and how cores share the output out.
    fn look_again(&self, name: &str, actual: &BTreeMap<String, Tensor>, output: &mut OutputReport) {
        let (Some(found), Some(golden)) = (actual.get(name), self.golden.get(name)) else { return };
        let criterion = criterion(self.manifest, self.bound, name, golden, |_| None);
        // Of a part, and of indices, the elements are not those of the whole.
        if criterion.region.is_some() || matches!(criterion.rule, Rule::TopK { .. }) {
            return;
        }
        let inputs: Vec<(String, Tensor)> =
            self.inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        let clues = Clues { inputs: &inputs, division: division(self.manifest, self.bound, name), previous: None };
        output.patterns = pattern::find(found, golden, &criterion.rule, &criterion.options, &clues);
    }
}

/// How cores share an output out, if its outermost extent is a dim with a known tile.
fn division(manifest: &Manifest, bound: &BoundCase, output: &str) -> Option<Division> {
    let (_, tensor) = bound.tensors().find(|(name, _)| *name == output)?;
    let declared = manifest.args.iter().find(|arg| arg.name == output)?;
    let ArgKind::Tensor(declared) = &declared.kind else { return None };
    let rows = usize::try_from(tile(manifest, declared.shape.first()?.source())?).ok()?;
    let inner: usize = tensor.shape.iter().skip(1).product();
    let (tile, cores) = (rows.checked_mul(inner)?, usize::try_from(bound.block_dim).ok()?);
    (tile > 0).then_some(Division { tile, cores })
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
            deadlines::SYNC_VARIABLE,
            deadlines::PROCESS_VARIABLE
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
