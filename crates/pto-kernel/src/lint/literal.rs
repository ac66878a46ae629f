//! `hardware-literal` in sources: numbers that a SoC table holds.

use std::collections::BTreeSet;

use pto_platform::{Soc, Target};
use tree_sitter::Node;

use super::tree::{callee, text, walk_outside};
use super::{Finding, Place, Rule, Subject};
use crate::source::Source;

pub(super) fn check(source: &Source, subject: &Subject) -> Vec<Finding> {
    let counts = core_counts(&subject.targets);
    let place = Place::of(source);
    let mut findings = Vec::new();
    for node in walk_outside(source.tree().root_node(), |node| is_checked_or_unknown(source.text(), node)) {
        match node.kind() {
            "number_literal" | "binary_expression" => findings.extend(ub_size(source, node, place)),
            "init_declarator" | "assignment_expression" | "preproc_def" => {
                findings.extend(core_count(source, node, &counts, place));
            }
            _ => {}
        }
    }
    findings.extend(launches(source, &counts, place));
    findings
}

/// A size in an assertion is one that is compared with, not relied on; in what the grammar does not understand it can be
/// anything.
fn is_checked_or_unknown(source: &str, node: Node) -> bool {
    match node.kind() {
        "static_assert_declaration" | "ERROR" => true,
        "call_expression" => callee(source, node).is_some_and(|name| name.to_ascii_lowercase().contains("assert")),
        _ => false,
    }
}

/// The whole UB of a generation: `196608`, `192 * 1024`, `0x30000`.
fn ub_size(source: &Source, node: Node, place: Place<'_>) -> Option<Finding> {
    let value = constant(source.text(), node)?;
    // Of `192 * 1024 / 6` the product counts, of `192 * 1024` the product and not its factors.
    let soc = pto_soc().find(|soc| u64::try_from(soc.ub_bytes) == Ok(value))?;
    let written = text(source.text(), node);
    let message = format!("`{written}` is the UB of {}, in bytes", soc.family);
    Some(place.finding(node.start_byte(), Rule::HardwareLiteral, message))
}

/// A number, or a product of numbers.
fn constant(source: &str, node: Node) -> Option<u64> {
    match node.kind() {
        "number_literal" => number(text(source, node)),
        "binary_expression" if text(source, node.child_by_field_name("operator")?) == "*" => {
            let side = |name| constant(source, node.child_by_field_name(name)?);
            side("left")?.checked_mul(side("right")?)
        }
        "parenthesized_expression" => constant(source, node.named_child(0)?),
        _ => None,
    }
}

fn number(written: &str) -> Option<u64> {
    let plain = written.replace('\'', "");
    let digits = plain.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// `int num_cores = 48`, `#define BLOCK_DIM 20`: a number of cores given to what is called one.
fn core_count(source: &Source, node: Node, counts: &BTreeSet<u64>, place: Place<'_>) -> Option<Finding> {
    let text_of = |name| node.child_by_field_name(name).map(|child| text(source.text(), child).trim());
    let name = text_of("declarator").or_else(|| text_of("left")).or_else(|| text_of("name"))?;
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"))?;
    if !is_called_a_core_count(name) || !counts.contains(&number(text(source.text(), value).trim())?) {
        return None;
    }
    let message = format!("`{name}` is {}, a number of cores that some SoCs have", text(source.text(), value).trim());
    Some(place.finding(value.start_byte(), Rule::HardwareLiteral, message))
}

/// `<<<20, ...>>>`.
fn launches(source: &Source, counts: &BTreeSet<u64>, place: Place<'_>) -> Vec<Finding> {
    let launches = source.functions().iter().flat_map(|function| &function.launches);
    let fixed = launches.filter_map(|launch| {
        let blocks = launch.config.first()?.trim();
        counts.contains(&number(blocks)?).then_some((launch.line, blocks))
    });
    fixed
        .map(|(line, blocks)| {
            let start = source.text().lines().take(line - 1).map(|line| line.len() + 1).sum::<usize>();
            let at = source.text()[start..].find("<<<").map_or(start, |at| start + at + 3);
            let message = format!("the kernel is launched with {blocks} blocks, a number of cores that some SoCs have");
            place.finding(at, Rule::HardwareLiteral, message)
        })
        .collect()
}

fn is_called_a_core_count(name: &str) -> bool {
    let folded: String = name.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    // A divisor or an identifier of a core says "core" as well.
    let is_number_of = ["num", "count", "cnt", "total", "max", "n"].iter().any(|word| folded.contains(word));
    let of_cores = ["core", "aic", "aiv"].iter().any(|word| folded.contains(word));
    folded == "blockdim" || (is_number_of && of_cores) || folded == "cores" || folded.ends_with("cores")
}

/// How many cores of one sort the SoCs of these targets have. Few cores are as many by chance.
pub(super) fn core_counts(targets: &[Target]) -> BTreeSet<u64> {
    const FEWEST: u32 = 20;
    let meant = pto_soc().filter(|soc| soc.target().is_some_and(|target| targets.contains(&target)));
    let counts = meant.flat_map(|soc| [soc.cube_cores, soc.vector_cores]);
    counts.filter(|count| *count >= FEWEST).map(u64::from).collect()
}

fn pto_soc() -> impl Iterator<Item = &'static Soc> {
    Soc::all().iter().filter(|soc| soc.target().is_some())
}
