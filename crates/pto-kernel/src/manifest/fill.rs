//! `fill`: what an input holds before the launch. The rules themselves are those of [`Fill`].

use pto_golden::{DType, Fill};
use serde::Deserialize;
use toml::de::{DeValue, ValueDeserializer};

use super::diagnostic::{Sink, nearest_help};
use super::fields::{Node, wrong_type};

/// The fills a manifest can ask for, each with its parameters: `fill = { normal = { mean = 0.0, std = 1.0 } }`.
const FILLS: [&str; 5] = ["normal", "uniform", "integers", "constant", "arange"];

/// Reads a fill and checks that the dtype can hold what it makes.
pub(super) fn read(node: &Node<'_>, arg: &str, dtype: Option<DType>, sink: &mut Sink<'_>) -> Option<Fill> {
    let what = format!("`fill` of `{arg}`");
    let DeValue::Table(entries) = node.get_ref() else {
        return wrong_type(node, &what, "a table such as `{ constant = 1 }`", node.get_ref(), sink);
    };
    if entries.len() != 1 {
        sink.error(node.span(), format!("{what} has {} entries, expected one", entries.len()));
        return None;
    }
    for key in entries.keys().filter(|key| !FILLS.contains(&key.get_ref().as_ref())) {
        let help = nearest_help(key.get_ref(), FILLS);
        sink.error_with(key.span(), format!("unknown fill `{}` of `{arg}`", key.get_ref()), help);
        return None;
    }
    let fill = match Fill::deserialize(ValueDeserializer::from(node.clone())) {
        Ok(fill) => fill,
        Err(error) => {
            sink.error(error.span().unwrap_or(node.span()), format!("{what}: {}", error.message()));
            return None;
        }
    };
    if let Some(Err(error)) = dtype.map(|dtype| fill.check(dtype)) {
        sink.error(node.span(), format!("{what}: {error}"));
        return None;
    }
    Some(fill)
}
