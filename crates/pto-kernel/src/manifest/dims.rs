//! `[dims]`: which sizes a case gives and which are compiled in.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::diagnostic::{Sink, nearest_help};
use super::fields::{At, Node, integer, kind, table};
use super::is_identifier;
use super::model::{CORE_COUNTS, Dim, macro_name};

pub(super) type Dims = BTreeMap<String, At<Dim>>;

/// Reads the section; a kernel whose sizes are all fixed in its source has none.
pub(super) fn read(node: Option<&Node<'_>>, sink: &mut Sink<'_>) -> Dims {
    let mut dims = Dims::new();
    let Some(entries) = node.and_then(|node| table(node, "[dims]", sink)) else { return dims };
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        if !is_identifier(name) {
            sink.error(key.span(), format!("dim `{name}` is not an identifier"));
        } else if CORE_COUNTS.contains(&name) || name == TARGETS {
            sink.error(key.span(), format!("`{name}` has a meaning of its own, a dim cannot be called that"));
        } else {
            // A dim whose length was refused still is one: what refers to it is not refused as well.
            let fallback = if value.get_ref().as_str().is_some() { Dim::Dynamic } else { Dim::Static(1) };
            let dim = dim(value, name, sink).unwrap_or(fallback);
            dims.insert(name.to_owned(), At::new(key.span(), dim));
        }
    }
    refuse_equal_macros(&dims, sink);
    warn_of_header_names(&dims, sink);
    dims
}

/// A listed case may carry this key beside its dims.
pub(super) const TARGETS: &str = "targets";

fn dim(value: &Node<'_>, name: &str, sink: &mut Sink<'_>) -> Option<Dim> {
    match value.get_ref() {
        DeValue::Integer(_) => {
            let length = integer(value, &format!("dim `{name}`"), sink)?;
            if length.value < 1 {
                sink.error(length.span, format!("dim `{name}` is {}, expected at least 1", length.value));
                return None;
            }
            Some(Dim::Static(length.value))
        }
        DeValue::String(text) if text == "dynamic" => Some(Dim::Dynamic),
        DeValue::String(text) => {
            let help = match text.trim().parse::<i64>() {
                Ok(length) => Some(format!("remove the quotes: `{name} = {length}`")),
                Err(_) => nearest_help(text, ["dynamic"]),
            };
            let message = format!("dim `{name}` is `{text}`, expected \"dynamic\" or a whole number");
            sink.error_with(value.span(), message, help);
            None
        }
        other => {
            let message = format!("dim `{name}` is {}, expected \"dynamic\" or a whole number", kind(other));
            sink.error(value.span(), message);
            None
        }
    }
}

/// Names that PTO-ISA's headers use for template parameters and constants of their own; besides these, all single letters.
/// A macro of such a name rewrites the headers, and what their compiler then says does not mention the dim.
const HEADER_NAMES: [&str; 14] =
    ["BOTH", "COLS", "DN", "DST", "EVEN", "GM", "MODE", "ND", "NZ", "OFF", "ON", "ROWS", "SRC", "UB"];

/// On the CPU the headers are precompiled without the macros: what breaks on a device would pass here.
fn warn_of_header_names(dims: &Dims, sink: &mut Sink<'_>) {
    for (name, dim) in dims.iter().filter(|(_, dim)| matches!(dim.value, Dim::Static(_))) {
        let macro_name = macro_name(name);
        if macro_name.len() == 1 || HEADER_NAMES.contains(&macro_name.as_str()) {
            let message =
                format!("static dim `{name}` becomes the macro `{macro_name}`, a name that PTO-ISA's headers use");
            sink.warn(dim.span.clone(), message, Some(format!("call it `{name}_tile` or `{name}_size`")));
        }
    }
}

/// Two static dims that differ in case only would be one macro.
fn refuse_equal_macros(dims: &Dims, sink: &mut Sink<'_>) {
    let mut seen = BTreeMap::new();
    for (name, dim) in dims.iter().filter(|(_, dim)| matches!(dim.value, Dim::Static(_))) {
        let macro_name = macro_name(name);
        if let Some(other) = seen.insert(macro_name.clone(), name) {
            let message = format!("static dims `{other}` and `{name}` would both be the macro `{macro_name}`");
            sink.error(dim.span.clone(), message);
        }
    }
}
