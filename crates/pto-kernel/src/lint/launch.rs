//! `block-dim-grows` in sources: `<<<(n + TILE - 1) / TILE, ...>>>`.

use std::collections::HashSet;

use tree_sitter::Node;

use super::tree::{text, walk};
use super::{Finding, Place, Rule};
use crate::source::{Function, LaunchSite, Source, TypeClass, words};

/// What bounds a number of blocks, or may.
const BOUNDS: [&str; 7] = ["min", "MIN", "clamp", "?", "<=", ">=", "%"];

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let launchers = source.functions().iter().filter(|function| function.body.is_some());
    launchers
        .flat_map(|function| function.launches.iter().filter_map(|launch| grows(source, function, launch)))
        .collect()
}

fn grows(source: &Source, function: &Function, launch: &LaunchSite) -> Option<Finding> {
    let mut expression = launch.config.first()?.trim().to_owned();
    // A variable that is given its value once, where it is declared, stands for that value.
    if let Some(value) = only_value(source, function, &expression) {
        expression = value;
    }
    let divides = expression.contains('/') || expression.to_ascii_lowercase().contains("ceil");
    let bounded = BOUNDS.iter().any(|bound| expression.contains(bound));
    let sizes = sizes(function);
    let size = words(&expression).find(|word| sizes.contains(word))?;
    if !divides || bounded {
        return None;
    }
    let start = source.text().lines().take(launch.line - 1).map(|line| line.len() + 1).sum::<usize>();
    let at = source.text()[start..].find("<<<").map_or(start, |at| start + at + 3);
    let message = format!("the number of blocks, `{expression}`, grows with `{size}`");
    Some(Place::of(source).finding(at, Rule::BlockDimGrows, message))
}

/// Parameters that can be sizes of data: whole numbers that are not called a number of blocks or cores.
fn sizes(function: &Function) -> HashSet<&str> {
    let numbers = function.params.iter().filter(|param| !matches!(param.class, TypeClass::Pointer { .. }));
    let names = numbers.filter_map(|param| param.name.as_deref());
    names
        .filter(|name| {
            let folded = name.to_ascii_lowercase();
            !["block", "core", "grid"].iter().any(|word| folded.contains(word))
        })
        .collect()
}

fn only_value(source: &Source, function: &Function, name: &str) -> Option<String> {
    let body = function.body.clone()?;
    let root = source.tree().root_node().descendant_for_byte_range(body.start, body.end.saturating_sub(1))?;
    let is_name = |node: Option<Node>| node.is_some_and(|node| text(source.text(), node) == name);
    let mut values = Vec::new();
    for node in walk(root) {
        match node.kind() {
            "init_declarator" if is_name(node.child_by_field_name("declarator")) => {
                values.push(node.child_by_field_name("value")?);
            }
            "assignment_expression" if is_name(node.child_by_field_name("left")) => return None,
            _ => {}
        }
    }
    match values[..] {
        [value] => Some(text(source.text(), value).to_owned()),
        _ => None,
    }
}
