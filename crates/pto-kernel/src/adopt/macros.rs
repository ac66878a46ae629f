//! Macros that a source expects from the command line: `SIDE` in `Shape<1, 1, 1, SIDE, SIDE>`, defined nowhere.
//!
//! A guess by design, since PTO-ISA's headers are not read. Only a bare upper-case name counts that stands where a number
//! is wanted (a template argument, an operand, an array's length, the value of a constant), because names of pipes, events
//! and layouts hardly stand there; and only if neither the source nor a header beside it defines it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tree_sitter::Node;

use crate::source::{Source, words};

/// What PTO-ISA, CANN and C's headers call their own.
const FOREIGN_PREFIXES: [&str; 11] =
    ["PIPE_", "EVENT_", "INT", "UINT", "FLT_", "DBL_", "SIZE_", "CHAR_", "LONG_", "ACL_", "PTO_"];
/// The same, by whole names.
const FOREIGN: [&str; 9] = [
    "DYNAMIC",
    "NULL",
    "M_PI",
    "GM_ADDR",
    "AICORE",
    "BLOCK_BYTE_SIZE",
    "REPEAT_BYTE",
    "CUBE_BLOCK_SIZE",
    "C0_SIZE_BYTE",
];

/// Headers beside the source are followed this far.
const MOST_HEADERS: usize = 64;

/// The names that are used as numbers and defined nowhere, sorted.
pub(super) fn undefined(source: &Source) -> Vec<String> {
    let mut seen = Seen::default();
    seen.visit(source);
    let candidates = std::mem::take(&mut seen.used);
    let mut wanted: Vec<PathBuf> = includes(source);
    let mut read = BTreeSet::new();
    while let Some(path) = wanted.pop() {
        if read.len() < MOST_HEADERS
            && read.insert(path.clone())
            && let Ok(header) = Source::read(&path)
        {
            seen.visit(&header);
            wanted.extend(includes(&header));
        }
    }
    candidates.into_iter().filter(|name| !seen.defined.contains(name)).collect()
}

/// The headers named in quotes that lie beside the source.
fn includes(source: &Source) -> Vec<PathBuf> {
    let dir = source.path().parent().unwrap_or(Path::new(""));
    let named = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        Some(dir.join(rest.strip_prefix('"')?.split('"').next()?))
    };
    source.text().lines().filter_map(named).filter(|path| path.is_file()).collect()
}

#[derive(Default)]
struct Seen {
    used: BTreeSet<String>,
    defined: BTreeSet<String>,
}

impl Seen {
    fn visit(&mut self, source: &Source) {
        let mut stack = vec![source.tree().root_node()];
        while let Some(node) = stack.pop() {
            if matches!(node.kind(), "identifier" | "type_identifier") {
                self.name(source, node);
            }
            let mut cursor = node.walk();
            // An undefined name in `#if` is 0, and many a source means that.
            let is_condition = |child: &Node| node.child_by_field_name("condition").as_ref() == Some(child);
            let is_if = matches!(node.kind(), "preproc_if" | "preproc_elif");
            stack.extend(node.named_children(&mut cursor).filter(|child| !is_if || !is_condition(child)));
        }
        // Macros are also defined where the grammar lost its way.
        let mut rest = words(source.text());
        while let Some(word) = rest.next() {
            if word == "define" {
                self.defined.extend(rest.next().map(str::to_owned));
            }
        }
    }

    fn name(&mut self, source: &Source, node: Node) {
        let name = source.text().get(node.byte_range()).unwrap_or_default();
        let is_macro = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !is_macro {
            return;
        }
        if is_number(node) {
            let foreign = FOREIGN.contains(&name) || FOREIGN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            if !foreign {
                self.used.insert(name.to_owned());
            }
        } else if is_definition(node) {
            self.defined.insert(name.to_owned());
        }
    }
}

/// Whether a number has to stand where this name stands.
fn is_number(node: Node) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    match parent.kind() {
        "template_argument_list" | "binary_expression" => true,
        "array_declarator" => is("size"),
        "init_declarator" => is("value"),
        "parenthesized_expression" | "unary_expression" => is_number(parent),
        // A name among template arguments reads as a type.
        "type_descriptor" => {
            parent.named_child_count() == 1
                && parent.parent().is_some_and(|list| list.kind() == "template_argument_list")
        }
        _ => false,
    }
}

/// Whether the name is given here.
fn is_definition(node: Node) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    is("declarator") || is("name") || parent.kind().contains("type_parameter") || parent.kind().contains("declarator")
}
