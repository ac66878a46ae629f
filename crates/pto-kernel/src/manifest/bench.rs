//! `[bench]`: what a launch costs, for a roofline.

use toml::de::DeValue;

use super::diagnostic::Sink;
use super::dims::Dims;
use super::expression::{Scope, expression};
use super::fields::{At, Fields, Node, integer, table, wrong_type};
use super::model::Bench;

const KEYS: [&str; 2] = ["bytes", "flops"];

pub(super) fn read(node: Option<&Node<'_>>, dims: &Dims, sink: &mut Sink<'_>) -> Bench {
    let Some(node) = node else { return Bench::default() };
    let Some(entries) = table(node, "[bench]", sink) else { return Bench::default() };
    let fields = Fields::open("[bench]", node.span(), entries, &KEYS, sink);
    Bench { bytes: quantity(&fields, "bytes", dims, sink), flops: quantity(&fields, "flops", dims, sink) }
}

fn quantity(fields: &Fields<'_>, key: &str, dims: &Dims, sink: &mut Sink<'_>) -> Option<pto_golden::Expr> {
    let node = fields.get(key)?;
    let what = fields.what(key);
    let text = match node.get_ref() {
        DeValue::String(text) => At::new(node.span(), text.to_string()),
        DeValue::Integer(_) => integer(node, &what, sink)?.map(|value| value.to_string()),
        other => return wrong_type(node, &what, "a whole number or an expression", other, sink),
    };
    let names = dims.keys().map(String::as_str).collect();
    expression(&text, &what, &Scope { noun: "dim", names }, sink)
}
