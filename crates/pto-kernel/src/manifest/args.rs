//! `[[arg]]`: the tensors and numbers a kernel is called with.

use pto_golden::DType;
use toml::de::DeValue;

use super::arg_types::{Arg, ArgKind, Dir, ScalarArg, ScalarFormula, ScalarType, TensorArg};
use super::diagnostic::{Sink, alternatives, nearest_help};
use super::dims::Dims;
use super::expression::{Scope, expression};
use super::fields::{At, Fields, Node, array, integer, number, table, wrong_type};
use super::model::{BLOCK_DIM, STREAM};
use super::{fill, is_identifier};

const KEYS: [&str; 7] = ["name", "dir", "dtype", "shape", "fill", "scalar", "value"];
/// What to write for `[arg]`.
pub(super) const EACH_ARG: &str = "write `[[arg]]` above each argument";
const TENSOR_ONLY: [&str; 4] = ["dir", "dtype", "shape", "fill"];

/// Reads all arguments; at least one tensor has to be written. `None` if any of them was not understood: what refers to
/// arguments by name cannot be judged then.
pub(super) fn read(node: Option<&Node<'_>>, dims: &Dims, sink: &mut Sink<'_>) -> Option<Vec<At<Arg>>> {
    let Some(node) = node else {
        sink.error(0..0, "kernel.toml has no [[arg]] section");
        return None;
    };
    if matches!(node.get_ref(), DeValue::Table(_)) {
        sink.error_with(node.span(), "`[arg]` is one table, expected an array of them", Some(EACH_ARG.to_owned()));
        return None;
    }
    let items = array(node, "[[arg]]", sink)?;
    let mut args: Vec<At<Arg>> = Vec::new();
    let mut understood = true;
    for item in items {
        let Some(entries) = table(item, "[[arg]]", sink) else {
            understood = false;
            continue;
        };
        let fields = Fields::open("[[arg]]", item.span(), entries, &KEYS, sink);
        match arg(&fields, dims, &args, sink) {
            Some(arg) => args.push(arg),
            None => understood = false,
        }
    }
    let writes = |arg: &At<Arg>| matches!(&arg.value.kind, ArgKind::Tensor(tensor) if tensor.dir.is_output());
    if understood && !args.iter().any(writes) {
        sink.error(node.span(), "no argument has `dir = \"out\"` or `\"inout\"`: there is nothing to compare");
        return None;
    }
    understood.then_some(args)
}

fn arg(fields: &Fields<'_>, dims: &Dims, before: &[At<Arg>], sink: &mut Sink<'_>) -> Option<At<Arg>> {
    let name = name(fields, dims, before, sink);
    // The rest of an argument without a good name is checked too.
    let label = fields.get("name").and_then(|node| node.get_ref().as_str()).unwrap_or("an argument");
    let kind = if fields.has("scalar") {
        scalar(fields, label, dims, sink).map(ArgKind::Scalar)
    } else {
        tensor(fields, label, dims, sink).map(ArgKind::Tensor)
    };
    let (name, kind) = (name?, kind?);
    let line = sink.text()[..name.span.start].matches('\n').count() + 1;
    Some(name.map(|name| Arg { name, line, kind }))
}

fn name(fields: &Fields<'_>, dims: &Dims, before: &[At<Arg>], sink: &mut Sink<'_>) -> Option<At<String>> {
    let name = fields.required_string("name", sink)?;
    let wrong = if !is_identifier(&name.value) {
        format!("argument `{}` is not an identifier", name.value)
    } else if [BLOCK_DIM, STREAM].contains(&name.value.as_str()) {
        format!("`{}` has a meaning of its own in a signature, an argument cannot be called that", name.value)
    } else if before.iter().any(|arg| arg.value.name == name.value) {
        format!("argument `{}` is defined twice", name.value)
    } else if dims.contains_key(&name.value) && !is_its_own_dim(fields, &name.value) {
        format!("argument `{}` has the name of a dim", name.value)
    } else {
        return Some(name);
    };
    sink.error(name.span, wrong);
    None
}

/// The usual way to hand a dim to the kernel, `name = "n", scalar = "u32", value = "n"`, confuses nobody.
fn is_its_own_dim(fields: &Fields<'_>, name: &str) -> bool {
    // A missing value is a finding of its own.
    let value = fields.get("value").map(|node| node.get_ref().as_str());
    fields.has("scalar") && value.is_none_or(|value| value == Some(name))
}

fn tensor(fields: &Fields<'_>, name: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<TensorArg> {
    if fields.has("value") {
        sink.error(key_span(fields, "value"), format!("`value` of `{name}` is for scalars, and it has no `scalar`"));
    }
    let dir = dir(fields, name, sink);
    let dtype = dtype(fields, name, sink);
    let shape = shape(fields, name, dims, sink);
    let fill = match fields.get("fill") {
        Some(node) => fill::read(node, name, dtype, sink),
        None => dtype.map(pto_golden::Fill::default_for),
    };
    if let (Some(dir), Some(node)) = (dir, fields.get("fill"))
        && !dir.is_input()
    {
        let help = Some("the buffer is filled with a pattern, so that what the kernel never wrote is seen".to_owned());
        sink.warn(node.span(), format!("`fill` of `{name}` has no effect: it is `{dir}`"), help);
    }
    Some(TensorArg { dir: dir?, dtype: dtype?, shape: shape?, fill: fill? })
}

fn dir(fields: &Fields<'_>, name: &str, sink: &mut Sink<'_>) -> Option<Dir> {
    let text = fields.required_string("dir", sink)?;
    let found = Dir::ALL.into_iter().find(|dir| dir.name() == text.value);
    if found.is_none() {
        let help = nearest_help(&text.value, Dir::ALL.map(Dir::name));
        let message =
            format!("`dir` of `{name}` is `{}`, expected {}", text.value, alternatives(Dir::ALL.map(Dir::name)));
        sink.error_with(text.span, message, help);
    }
    found
}

fn dtype(fields: &Fields<'_>, name: &str, sink: &mut Sink<'_>) -> Option<DType> {
    let text = fields.required_string("dtype", sink)?;
    match text.value.parse::<DType>() {
        Ok(dtype) if dtype.bits() < 8 => {
            let help = "declare the packed bytes as `u8`, two elements each".to_owned();
            sink.error_with(text.span, format!("`{dtype}` of `{name}` has no address for each element"), Some(help));
            None
        }
        Ok(dtype) => Some(dtype),
        Err(error) => {
            let help = match error.nearest {
                Some(dtype) => Some(format!("did you mean `{dtype}`?")),
                None => nearest_help(&text.value, DType::ALL.map(DType::name)),
            };
            sink.error_with(text.span, format!("unknown dtype `{}` of `{name}`", text.value), help);
            None
        }
    }
}

fn shape(fields: &Fields<'_>, name: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<Vec<pto_golden::Expr>> {
    let what = format!("`shape` of `{name}`");
    extents(fields.require("shape", sink)?, &what, dims, sink)
}

/// A list of lengths; all that is wrong with them is found.
pub(super) fn extents(node: &Node<'_>, what: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<Vec<pto_golden::Expr>> {
    if let DeValue::String(text) = node.get_ref() {
        let help = Some(format!("write `[\"{text}\"]`"));
        sink.error_with(node.span(), format!("{what} is a string, expected an array"), help);
        return None;
    }
    let extents: Vec<_> = array(node, what, sink)?.iter().map(|item| extent(item, what, dims, sink)).collect();
    extents.into_iter().collect()
}

fn extent(item: &Node<'_>, what: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<pto_golden::Expr> {
    match item.get_ref() {
        DeValue::Integer(_) => {
            let length = integer(item, &format!("an extent in {what}"), sink)?;
            if length.value < 1 {
                sink.error(length.span, format!("an extent in {what} is {}, expected at least 1", length.value));
                return None;
            }
            expression(&length.map(|n| n.to_string()), what, &dim_scope(dims), sink)
        }
        DeValue::String(text) => expression(&At::new(item.span(), text.to_string()), what, &dim_scope(dims), sink),
        other => wrong_type(item, &format!("an extent in {what}"), "a whole number or an expression", other, sink),
    }
}

fn scalar(fields: &Fields<'_>, name: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<ScalarArg> {
    for key in TENSOR_ONLY.into_iter().filter(|key| fields.has(key)) {
        sink.error(key_span(fields, key), format!("`{key}` of `{name}` is for tensors, and it has `scalar`"));
    }
    let dtype = scalar_type(fields, name, sink);
    let value = scalar_value(fields, name, dtype, dims, sink);
    Some(ScalarArg { dtype: dtype?, value: value? })
}

fn scalar_type(fields: &Fields<'_>, name: &str, sink: &mut Sink<'_>) -> Option<ScalarType> {
    let text = fields.required_string("scalar", sink)?;
    let found = ScalarType::by_name(&text.value);
    if found.is_none() {
        // `uint32_t` is a type the user knows; the manifest calls it `u32`.
        let same_kind = text.value.parse::<DType>().ok();
        let same = same_kind.and_then(|dtype| ScalarType::by_name(dtype.name()));
        let help = match same {
            Some(scalar) => Some(format!("write `{scalar}`")),
            None if same_kind.is_some_and(|dtype| dtype == DType::Bool) => Some("pass it as `u8`".to_owned()),
            None if same_kind.is_some_and(DType::is_float) => {
                Some("pass it as `f32`, and let the kernel round it: a launcher takes no shorter float".to_owned())
            }
            None => nearest_help(&text.value, ScalarType::ALL.map(ScalarType::name)),
        };
        sink.error_with(text.span, format!("unknown scalar type `{}` of `{name}`", text.value), help);
    }
    found
}

fn scalar_value(
    fields: &Fields<'_>,
    name: &str,
    dtype: Option<ScalarType>,
    dims: &Dims,
    sink: &mut Sink<'_>,
) -> Option<ScalarFormula> {
    let what = format!("`value` of `{name}`");
    let node = fields.require("value", sink)?;
    match node.get_ref() {
        DeValue::String(text) => decimal(text, dtype).or_else(|| {
            let text = At::new(node.span(), text.to_string());
            expression(&text, &what, &dim_scope(dims), sink).map(ScalarFormula::Expr)
        }),
        DeValue::Integer(_) => {
            let text = integer(node, &what, sink)?.map(|value| value.to_string());
            expression(&text, &what, &dim_scope(dims), sink).map(ScalarFormula::Expr)
        }
        DeValue::Float(_) if dtype.is_none_or(ScalarType::is_float) => {
            number(node, &what, sink).map(|value| ScalarFormula::Number(value.value))
        }
        DeValue::Float(digits) => {
            let dtype = dtype.map(ScalarType::name).unwrap_or_default();
            sink.error(node.span(), format!("{what} is {digits}, expected a whole number for `{dtype}`"));
            None
        }
        other => wrong_type(node, &what, "a number or an expression", other, sink),
    }
}

/// A decimal number written as a string, for a type that can hold one.
fn decimal(text: &str, dtype: Option<ScalarType>) -> Option<ScalarFormula> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    (is_number && dtype?.is_float()).then(|| text.parse().ok().map(ScalarFormula::Number))?
}

fn dim_scope(dims: &Dims) -> Scope<'_> {
    Scope { noun: "dim", names: dims.keys().map(String::as_str).collect() }
}

fn key_span(fields: &Fields<'_>, key: &str) -> std::ops::Range<usize> {
    fields.get(key).map_or(fields.span(), |node| node.span())
}
