//! `[golden]`: where expected values come from. Every output has to be covered.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pto_golden::Expr;

use super::arg_types::{Arg, ArgKind};
use super::diagnostic::{Sink, nearest_help, quoted};
use super::dims::Dims;
use super::expression::{Scope, expression};
use super::fields::{At, Fields, Node, number, string, table};
use super::model::Golden;

pub(super) const KEYS: [&str; 4] = ["expr", "command", "timeout_s", "files"];
const WAYS: [&str; 3] = ["expr", "command", "files"];

pub(super) fn read(
    fields: &Fields<'_>,
    dir: &Path,
    dims: &Dims,
    args: Option<&[At<Arg>]>,
    sink: &mut Sink<'_>,
) -> Option<Golden> {
    let ways: Vec<&str> = WAYS.into_iter().filter(|way| fields.has(way)).collect();
    let timeout = timeout(fields, &ways, sink);
    match ways.as_slice() {
        [] => {
            sink.error(fields.span(), format!("[golden] has none of {}", quoted(WAYS)));
            None
        }
        ["expr"] => expr(fields.get("expr")?, dims, args?, sink).map(Golden::Expr),
        ["command"] => {
            let argv = fields.required_strings("command", sink);
            Some(Golden::Command { argv: argv.into_iter().map(|word| word.value).collect(), timeout })
        }
        ["files"] => {
            let files = fields.required_string("files", sink)?;
            let path = dir.join(&files.value);
            if !path.is_dir() {
                let message = format!("golden directory `{}` does not exist ({})", files.value, path.display());
                sink.error(files.span, message);
                return None;
            }
            Some(Golden::Files(path))
        }
        several => {
            let span = fields.get(several[1]).map_or(fields.span(), |node| node.span());
            sink.error(span, format!("[golden] has {}, expected one of them", quoted(several.iter().copied())));
            None
        }
    }
}

fn timeout(fields: &Fields<'_>, ways: &[&str], sink: &mut Sink<'_>) -> Option<Duration> {
    let node = fields.get("timeout_s")?;
    if !ways.contains(&"command") {
        sink.error(node.span(), "`timeout_s` is for `command`, and [golden] has none");
        return None;
    }
    let seconds = number(node, &fields.what("timeout_s"), sink)?;
    // Zero, negative, NaN, infinite or beyond what a duration holds.
    match Duration::try_from_secs_f64(seconds.value) {
        Ok(timeout) if !timeout.is_zero() => Some(timeout),
        _ => {
            sink.error(seconds.span, format!("`timeout_s` is {}, expected a number of seconds above 0", seconds.value));
            None
        }
    }
}

fn expr(node: &Node<'_>, dims: &Dims, args: &[At<Arg>], sink: &mut Sink<'_>) -> Option<BTreeMap<String, Expr>> {
    let entries = table(node, "`expr` of [golden]", sink)?;
    let scope = scope(dims, args);
    let mut covered = BTreeMap::new();
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        refuse_other_than_output(&At::new(key.span(), name.to_owned()), args, sink);
        let what = format!("golden of `{name}`");
        let parsed = string(value, &what, sink).and_then(|text| expression(&text, &what, &scope, sink));
        covered.insert(name.to_owned(), parsed);
    }
    let outputs = args.iter().filter(|arg| is_output(&arg.value)).map(|arg| arg.value.name.as_str());
    let missing: Vec<&str> = outputs.filter(|name| !covered.contains_key(*name)).collect();
    if !missing.is_empty() {
        let plural = if missing.len() == 1 { "output" } else { "outputs" };
        sink.error(node.span(), format!("golden does not cover {plural} {}", quoted(missing)));
    }
    covered.into_iter().map(|(name, expr)| expr.map(|expr| (name, expr))).collect()
}

/// A golden may use what the kernel is given: inputs, numbers, dims. Not what another golden computes.
fn scope<'a>(dims: &'a Dims, args: &'a [At<Arg>]) -> Scope<'a> {
    let given = |arg: &&At<Arg>| match &arg.value.kind {
        ArgKind::Tensor(tensor) => tensor.dir.is_input(),
        ArgKind::Scalar(_) => true,
    };
    let inputs = args.iter().filter(given).map(|arg| arg.value.name.as_str());
    Scope { noun: "input", names: inputs.chain(dims.keys().map(String::as_str)).collect() }
}

pub(super) fn is_output(arg: &Arg) -> bool {
    matches!(&arg.kind, ArgKind::Tensor(tensor) if tensor.dir.is_output())
}

/// A golden or a tolerance is for an argument the kernel writes.
pub(super) fn refuse_other_than_output(name: &At<String>, args: &[At<Arg>], sink: &mut Sink<'_>) -> bool {
    let message = match args.iter().find(|arg| arg.value.name == name.value) {
        Some(arg) if is_output(&arg.value) => return false,
        Some(arg) => match &arg.value.kind {
            ArgKind::Tensor(tensor) => format!("`{}` is `{}`, not an output", name.value, tensor.dir),
            ArgKind::Scalar(_) => format!("`{}` is a scalar, not an output", name.value),
        },
        None => format!("`{}` is no argument", name.value),
    };
    let outputs = args.iter().filter(|arg| is_output(&arg.value)).map(|arg| arg.value.name.as_str());
    let help = nearest_help(&name.value, outputs);
    sink.error_with(name.span.clone(), message, help);
    true
}
