//! `[cases]`: the sizes a kernel is tested with.

use std::collections::BTreeMap;

use pto_platform::Target;
use toml::de::DeValue;

use super::diagnostic::{Sink, nearest_help, quoted};
use super::dims::{Dims, TARGETS};
use super::fields::{At, Fields, Node, array, integer, string, table};
use super::kernel::read_targets;
use super::model::{CaseList, Dim, ListedCase};
use crate::cases::tile::tile_of;

const KEYS: [&str; 3] = ["edges", "list", "seed"];

/// Reads the section. Whether every dynamic dim gets a value is checked here; what the values do to shapes is not.
pub(super) fn read(node: Option<&Node<'_>>, dims: &Dims, block_dim: Option<&str>, sink: &mut Sink<'_>) -> CaseList {
    let dynamic: Vec<&str> =
        dims.iter().filter(|(_, dim)| dim.value == Dim::Dynamic).map(|(name, _)| name.as_str()).collect();
    let Some(node) = node else {
        if !dynamic.is_empty() {
            let names = quoted(dynamic);
            sink.error(0..0, format!("kernel.toml has no [cases] section, and {names} needs values"));
        }
        return CaseList::default();
    };
    let Some(entries) = table(node, "[cases]", sink) else { return CaseList::default() };
    let fields = Fields::open("[cases]", node.span(), entries, &KEYS, sink);
    let edges = fields.get("edges").map(|node| edges(node, dims, block_dim, sink)).unwrap_or_default();
    let list = fields.get("list").map(|node| list(node, dims, &dynamic, sink)).unwrap_or_default();
    if fields.get("list").is_none_or(|node| matches!(node.get_ref(), DeValue::Array(items) if items.is_empty())) {
        refuse_without_value(&fields, &dynamic, sink);
    }
    CaseList { edges, list, seed: seed(&fields, sink) }
}

/// With no listed case, only edges give values. Edges that were refused are not reported a second time.
fn refuse_without_value(fields: &Fields<'_>, dynamic: &[&str], sink: &mut Sink<'_>) {
    let is_edge = |name: &str| match fields.get("edges").map(|node| node.get_ref()) {
        Some(DeValue::Array(items)) => items.iter().any(|item| item.get_ref().as_str() == Some(name)),
        _ => false,
    };
    let without: Vec<&str> = dynamic.iter().copied().filter(|name| !is_edge(name)).collect();
    if !without.is_empty() {
        let help = format!("write `list = [{{ {} = 1024 }}]`", without.join(" = 1024, "));
        let message = format!("[cases] gives no value for {}", quoted(without));
        sink.error_with(fields.span(), message, Some(help));
    }
}

fn seed(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<u64> {
    let seed = integer(fields.get("seed")?, &fields.what("seed"), sink)?;
    let value = u64::try_from(seed.value).ok();
    if value.is_none() {
        sink.error(seed.span, format!("`seed` is {}, expected 0 or above", seed.value));
    }
    value
}

fn edges(node: &Node<'_>, dims: &Dims, block_dim: Option<&str>, sink: &mut Sink<'_>) -> Vec<String> {
    let mut edges: Vec<String> = Vec::new();
    let values = dims.iter().map(|(name, dim)| (name.clone(), dim.value)).collect();
    for item in array(node, "`edges` of [cases]", sink).unwrap_or_default() {
        let Some(name) = string(item, "an item of `edges`", sink) else { continue };
        match dims.get(&name.value).map(|dim| dim.value) {
            None => {
                let help = nearest_help(&name.value, dims.keys().map(String::as_str));
                sink.error_with(name.span, format!("`edges` lists `{}`, which is no dim", name.value), help);
            }
            Some(Dim::Static(length)) => {
                let message =
                    format!("`edges` lists `{}`, which is static ({length}), expected a dynamic dim", name.value);
                sink.error(name.span, message);
            }
            Some(Dim::Dynamic) if edges.contains(&name.value) => {
                sink.error(name.span, format!("`edges` lists `{}` twice", name.value));
            }
            Some(Dim::Dynamic)
                if block_dim.is_some() && tile_of(&name.value, &values, block_dim.unwrap_or("")).is_none() =>
            {
                let help = format!(
                    "add a static dim `tile` or `tile_{0}`, or divide in `block_dim`: `ceil({0} / 1024)`",
                    name.value
                );
                let message = format!("`edges` lists `{}`, and nothing says how large a tile of it is", name.value);
                sink.error_with(name.span, message, Some(help));
            }
            Some(Dim::Dynamic) => edges.push(name.value),
        }
    }
    edges
}

fn list(node: &Node<'_>, dims: &Dims, dynamic: &[&str], sink: &mut Sink<'_>) -> Vec<ListedCase> {
    let items = array(node, "`list` of [cases]", sink).unwrap_or_default();
    items.iter().filter_map(|item| listed(item, dims, dynamic, sink)).collect()
}

fn listed(item: &Node<'_>, dims: &Dims, dynamic: &[&str], sink: &mut Sink<'_>) -> Option<ListedCase> {
    let entries = table(item, "a case", sink)?;
    let mut case = ListedCase {
        dims: BTreeMap::new(),
        targets: None,
        line: sink.text()[..item.span().start].matches('\n').count() + 1,
    };
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        if name == TARGETS {
            case.targets = Some(case_targets(value, sink));
        } else if let Some(length) = case_dim(&At::new(key.span(), name.to_owned()), value, dims, sink) {
            case.dims.insert(name.to_owned(), length);
        }
    }
    let given = |name: &&str| entries.iter().any(|(key, _)| key.get_ref() == *name);
    let missing: Vec<&str> = dynamic.iter().copied().filter(|name| !given(name)).collect();
    if !missing.is_empty() {
        sink.error(item.span(), format!("a case gives no value for {}", quoted(missing)));
        return None;
    }
    Some(case)
}

fn case_dim(name: &At<String>, value: &Node<'_>, dims: &Dims, sink: &mut Sink<'_>) -> Option<i64> {
    let length = integer(value, &format!("`{}` of a case", name.value), sink)?;
    match dims.get(&name.value).map(|dim| dim.value) {
        None => {
            let help = nearest_help(&name.value, dims.keys().map(String::as_str));
            sink.error_with(name.span.clone(), format!("a case names `{}`, which is no dim", name.value), help);
            None
        }
        Some(Dim::Static(fixed)) => {
            let message = format!("a case names `{}`, which is static ({fixed})", name.value);
            sink.error(name.span.clone(), message);
            None
        }
        Some(Dim::Dynamic) if length.value < 1 => {
            sink.error(length.span, format!("`{}` of a case is {}, expected at least 1", name.value, length.value));
            None
        }
        Some(Dim::Dynamic) => Some(length.value),
    }
}

fn case_targets(value: &Node<'_>, sink: &mut Sink<'_>) -> Vec<Target> {
    let items = array(value, "`targets` of a case", sink).unwrap_or_default();
    let names = items.iter().filter_map(|item| string(item, "an item of `targets`", sink)).collect();
    read_targets(names, sink)
}
