//! `block-dim-grows` in sources: `<<<(n + TILE - 1) / TILE, ...>>>`.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::tree::{text, walk};
use super::{Finding, Place, Rule};
use crate::source::{Function, LaunchSite, Source, TypeClass, words};

/// What bounds a number of blocks, or may.
const BOUNDS: [&str; 7] = ["min", "MIN", "clamp", "?", "<=", ">=", "%"];

pub(super) fn check(source: &Source) -> Vec<Finding> {
    let launchers = source.functions().iter().filter(|function| function.body.is_some());
    let of_function = |function: &Function| {
        let values = if function.launches.is_empty() { HashMap::new() } else { only_values(source, function) };
        function.launches.iter().filter_map(|launch| grows(source, function, launch, &values)).collect::<Vec<_>>()
    };
    launchers.flat_map(of_function).collect()
}

fn grows(
    source: &Source,
    function: &Function,
    launch: &LaunchSite,
    values: &HashMap<&str, Option<&str>>,
) -> Option<Finding> {
    let written = launch.config.first()?.trim();
    // A variable that is given its value once, where it is declared, stands for that value.
    let expression = values.get(written).copied().flatten().unwrap_or(written);
    let divides = expression.contains('/') || expression.to_ascii_lowercase().contains("ceil");
    let bounded = BOUNDS.iter().any(|bound| expression.contains(bound));
    let sizes = sizes(function);
    let size = words(expression).find(|word| sizes.contains(word))?;
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

/// The variables of a function with the value that they are given where they are declared; without one where they are given
/// several.
fn only_values<'s>(source: &'s Source, function: &Function) -> HashMap<&'s str, Option<&'s str>> {
    let mut values = HashMap::new();
    let Some(body) = function.body.clone() else { return values };
    let root = source.tree().root_node();
    let Some(root) = root.descendant_for_byte_range(body.start, body.end.saturating_sub(1)) else { return values };
    let field = |node: Node<'s>, name| node.child_by_field_name(name).map(|node| text(source.text(), node));
    for node in walk(root) {
        let (name, value) = match node.kind() {
            "init_declarator" => (field(node, "declarator"), field(node, "value")),
            "assignment_expression" => (field(node, "left"), None),
            _ => continue,
        };
        if let Some(name) = name {
            values.entry(name).and_modify(|known| *known = None).or_insert(value);
        }
    }
    values
}
