//! `[tolerance]`: outputs that are judged by something else than the tolerance of their dtype, each with its reason.

use std::collections::BTreeMap;

use pto_golden::DType;
use pto_golden::suite::Spec;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::arg_types::{Arg, ArgKind};
use super::args::extents;
use super::diagnostic::{Sink, nearest_help};
use super::dims::Dims;
use super::fields::{At, Fields, Node, table};
use super::golden::refuse_other_than_output;
use super::model::OutputRule;

/// The keys of a rules file, but for those whose answer `[[arg]]` gives.
const KEYS: [&str; 20] = [
    "rule",
    "rtol",
    "atol",
    "max-ulp",
    "rate",
    "cap",
    "rel",
    "floor",
    "scale",
    "zero-point",
    "steps",
    "rmse",
    "r-squared",
    "cosine",
    "snr",
    "scores",
    "equal-nan",
    "valid",
    "tail",
    "reason",
];
/// Those that name something of the manifest, and mean something else in a rules file.
const OURS: [&str; 2] = ["scores", "valid"];

pub(super) fn read(
    node: Option<&Node<'_>>,
    dims: &Dims,
    args: Option<&[At<Arg>]>,
    sink: &mut Sink<'_>,
) -> BTreeMap<String, OutputRule> {
    let mut rules = BTreeMap::new();
    let Some(entries) = node.and_then(|node| table(node, "[tolerance]", sink)) else { return rules };
    let Some(args) = args else { return rules };
    for (key, value) in entries {
        let name = At::new(key.span(), key.get_ref().to_string());
        if refuse_other_than_output(&name, args, sink) {
            continue;
        }
        let Some(entry) = table(value, &format!("tolerance of `{}`", name.value), sink) else { continue };
        let fields = Fields::open("[tolerance]", value.span(), entry, &KEYS, sink);
        if let Some(rule) = rule(&name, &fields, entry, dims, args, sink) {
            rules.insert(name.value, rule);
        }
    }
    rules
}

fn rule(
    name: &At<String>,
    fields: &Fields<'_>,
    entry: &DeTable<'_>,
    dims: &Dims,
    args: &[At<Arg>],
    sink: &mut Sink<'_>,
) -> Option<OutputRule> {
    let spec = spec(entry, fields, sink)?;
    let dtype = dtype_of(&name.value, args)?;
    let silent = Spec { reason: None, ..spec.clone() } == Spec::default();
    if silent && !OURS.iter().any(|key| fields.has(key)) {
        sink.error(fields.span(), "a tolerance says nothing: it has neither `rtol`, nor `atol`, nor another `rule`");
        return None;
    }
    match spec.rule(dtype) {
        Ok(rule) => {
            if spec.lacks_reason(&rule, dtype).is_some() {
                warn_loose(name, &rule.to_string(), dtype, sink);
            }
            for warning in rule.warnings() {
                sink.warn(name.span.clone(), format!("tolerance of `{}`: {warning}", name.value), None);
            }
        }
        Err(error) => sink.error(name.span.clone(), format!("tolerance of `{}`: {error}", name.value)),
    }
    let valid = match fields.get("valid") {
        Some(node) => Some(extents(node, &format!("`valid` of `{}`", name.value), dims, sink)?),
        None => None,
    };
    let scores = fields.string("scores", sink);
    if spec.rule == Some(pto_golden::suite::RuleKind::TopK) && scores.is_none() && !fields.has("scores") {
        let help = Some("add `scores = \"x\"`, the tensor that the indices count in".to_owned());
        sink.error_with(
            name.span.clone(),
            format!("tolerance of `{}`: the rule `top-k` needs `scores`", name.value),
            help,
        );
    }
    if let Some(scores) = &scores {
        refuse_other_than_tensor(scores, args, sink);
    }
    Some(OutputRule { spec, valid, scores: scores.map(|scores| scores.value) })
}

/// What a rules file would say by the same keys.
fn spec(entry: &DeTable<'_>, fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Spec> {
    let shared = |key: &&str| KEYS.contains(key) && !OURS.contains(key);
    let mut table = DeTable::new();
    for (key, value) in entry.iter().filter(|(key, _)| shared(&key.get_ref().as_ref())) {
        table.insert(key.clone(), value.clone());
    }
    let whole = Spanned::new(fields.span(), DeValue::Table(table));
    match Spec::deserialize(ValueDeserializer::from(whole)) {
        Ok(spec) => Some(spec),
        Err(error) => {
            sink.error(error.span().unwrap_or(fields.span()), error.message().to_owned());
            None
        }
    }
}

fn dtype_of(name: &str, args: &[At<Arg>]) -> Option<DType> {
    args.iter().find(|arg| arg.value.name == name).and_then(|arg| match &arg.value.kind {
        ArgKind::Tensor(tensor) => Some(tensor.dtype),
        ArgKind::Scalar(_) => None,
    })
}

/// Indices count in what the kernel was given, or in another of its outputs.
fn refuse_other_than_tensor(name: &At<String>, args: &[At<Arg>], sink: &mut Sink<'_>) {
    let tensors = || args.iter().filter(|arg| matches!(arg.value.kind, ArgKind::Tensor(_)));
    if !tensors().any(|arg| arg.value.name == name.value) {
        let help = nearest_help(&name.value, tensors().map(|arg| arg.value.name.as_str()));
        sink.error_with(name.span.clone(), format!("`scores` is `{}`, which is no tensor", name.value), help);
    }
}

fn warn_loose(name: &At<String>, rule: &str, dtype: DType, sink: &mut Sink<'_>) {
    let default = pto_golden::Tolerance::default_for(dtype);
    let message = format!(
        "tolerance of `{}` ({rule}) is looser than that of `{dtype}` ({default}) and has no `reason`",
        name.value
    );
    let help = "relax only for a documented numerical reason, for example the order of accumulation".to_owned();
    sink.warn(name.span.clone(), message, Some(help));
}
