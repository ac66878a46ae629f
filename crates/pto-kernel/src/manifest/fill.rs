//! `fill`: what an input holds before the launch. The rules themselves are those of [`Fill`].

use pto_golden::{DType, Fill};
use serde::Deserialize;
use toml::de::{DeValue, ValueDeserializer};

use super::diagnostic::{Sink, nearest_help};
use super::fields::{Fields, Node, wrong_type};

/// The fills a manifest can ask for, each with its parameters: `fill = { normal = { mean = 0.0, std = 1.0 } }`.
const FILLS: [(&str, &[&str]); 5] = [
    ("normal", &["mean", "std"]),
    ("uniform", &["low", "high"]),
    ("integers", &["low", "high"]),
    ("arange", &["start", "step"]),
    ("constant", &[]),
];

/// Reads a fill and checks that the dtype can hold what it makes.
pub(super) fn read(node: &Node<'_>, arg: &str, dtype: Option<DType>, sink: &mut Sink<'_>) -> Option<Fill> {
    let what = format!("`fill` of `{arg}`");
    let DeValue::Table(entries) = node.get_ref() else {
        return wrong_type(node, &what, "a table such as `{ constant = 1 }`", node.get_ref(), sink);
    };
    let [(key, parameters)] = entries.iter().collect::<Vec<_>>()[..] else {
        sink.error(node.span(), format!("{what} has {} entries, expected one", entries.len()));
        return None;
    };
    let Some((_, known)) = FILLS.iter().find(|(name, _)| name == key.get_ref()) else {
        let help = nearest_help(key.get_ref(), FILLS.map(|(name, _)| name));
        sink.error_with(key.span(), format!("unknown fill `{}` of `{arg}`", key.get_ref()), help);
        return None;
    };
    if let DeValue::Table(table) = parameters.get_ref() {
        let before = sink.errors();
        Fields::open(&what, parameters.span(), table, known, sink);
        if sink.errors() > before {
            return None;
        }
    }
    let fill = match Fill::deserialize(ValueDeserializer::from(node.clone())) {
        Ok(fill) => fill,
        Err(error) => {
            sink.error(error.span().unwrap_or(node.span()), format!("{what}: {}", error.message()));
            return None;
        }
    };
    if let Some(Err(error)) = dtype.map(|dtype| fill.check(dtype)) {
        sink.error(node.span(), format!("`{arg}`: {error}"));
        return None;
    }
    Some(fill)
}
