//! `[tolerance]`: exceptions from the tolerances of the dtypes, each with its reason.

use std::collections::BTreeMap;

use pto_golden::{DType, Tolerance};

use super::arg_types::{Arg, ArgKind};
use super::diagnostic::Sink;
use super::fields::{At, Fields, Node, number, table};
use super::golden::refuse_other_than_output;
use super::model::ToleranceOverride;

const KEYS: [&str; 3] = ["rtol", "atol", "reason"];

pub(super) fn read(
    node: Option<&Node<'_>>,
    args: Option<&[At<Arg>]>,
    sink: &mut Sink<'_>,
) -> BTreeMap<String, ToleranceOverride> {
    let mut overrides = BTreeMap::new();
    let Some(entries) = node.and_then(|node| table(node, "[tolerance]", sink)) else { return overrides };
    let Some(args) = args else { return overrides };
    for (key, value) in entries {
        let name = At::new(key.span(), key.get_ref().to_string());
        let unknown = refuse_other_than_output(&name, args, sink);
        let Some(entry) = table(value, &format!("tolerance of `{}`", name.value), sink) else { continue };
        let fields = Fields::open("[tolerance]", value.span(), entry, &KEYS, sink);
        let tolerance = tolerance(&fields, sink);
        if let Some(dtype) = dtype_of(&name.value, args)
            && !unknown
        {
            warn_if_loose(&name, &tolerance, dtype, sink);
        }
        overrides.insert(name.value, tolerance);
    }
    overrides
}

fn tolerance(fields: &Fields<'_>, sink: &mut Sink<'_>) -> ToleranceOverride {
    if !fields.has("rtol") && !fields.has("atol") {
        sink.error(fields.span(), "a tolerance has neither `rtol` nor `atol`");
    }
    let reason = fields.string("reason", sink).map(|text| text.value).filter(|text| !text.trim().is_empty());
    ToleranceOverride { rtol: bound(fields, "rtol", sink), atol: bound(fields, "atol", sink), reason }
}

fn bound(fields: &Fields<'_>, key: &str, sink: &mut Sink<'_>) -> Option<f64> {
    let bound = number(fields.get(key)?, &fields.what(key), sink)?;
    if !bound.value.is_finite() || bound.value < 0.0 {
        sink.error(bound.span, format!("`{key}` is {}, expected a finite number, 0 or above", bound.value));
        return None;
    }
    Some(bound.value)
}

fn dtype_of(name: &str, args: &[At<Arg>]) -> Option<DType> {
    args.iter().find(|arg| arg.value.name == name).and_then(|arg| match &arg.value.kind {
        ArgKind::Tensor(tensor) => Some(tensor.dtype),
        ArgKind::Scalar(_) => None,
    })
}

fn warn_if_loose(name: &At<String>, given: &ToleranceOverride, dtype: DType, sink: &mut Sink<'_>) {
    let default = Tolerance::default_for(dtype);
    let tolerance = given.over(default);
    if given.reason.is_none() && tolerance.is_looser_than(&default) {
        let message =
            format!("tolerance of `{}` is looser than that of `{dtype}` ({default}) and has no `reason`", name.value);
        let help = "relax only for a documented numerical reason, for example the order of accumulation".to_owned();
        sink.warn(name.span.clone(), message, Some(help));
    }
    if tolerance.atol >= Tolerance::LOOSE_ATOL {
        let message = format!(
            "`atol` of `{}` is {:e}: a loose absolute tolerance can mark incorrect kernels as PASS",
            name.value, tolerance.atol
        );
        let help = format!("do not use `atol = {:e}` or more", Tolerance::LOOSE_ATOL);
        sink.warn(name.span.clone(), message, Some(help));
    }
}
