//! `stream-in-timed-loop`: Python that asks for the current stream in each round of a loop that is measured.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Tree};

use super::tree::{text, walk};
use super::{Finding, Place, Rule};

/// What asks for a stream.
const QUERIES: [&str; 3] = ["current_stream", "npu_stream", "_as_parameter_"];
/// What reads a clock.
const CLOCKS: [&str; 5] = ["record", "perf_counter", "perf_counter_ns", "monotonic", "time"];

/// The Python files beside a kernel.
pub(super) fn beside(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(dir) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
    files.sort();
    files
}

pub(super) fn check(path: &Path, source: &str) -> Vec<Finding> {
    let tree = parse(source);
    let asking = asking_functions(source, &tree);
    let place = Place { path, text: source };
    let mut findings = Vec::new();
    for node in walk(tree.root_node()) {
        let Some(query) = query(source, node, &asking) else { continue };
        if is_measured(source, node) {
            findings.push(place.finding(node.start_byte(), Rule::StreamInTimedLoop, query));
        }
    }
    findings
}

fn parse(source: &str) -> Tree {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the linked Python grammar has the library's ABI");
    parser.parse(source, None).expect("parsing without cancellation ends with a tree")
}

/// Functions of this file whose bodies ask for the stream.
fn asking_functions<'s>(source: &'s str, tree: &Tree) -> HashSet<&'s str> {
    let definitions = walk(tree.root_node()).filter(|node| node.kind() == "function_definition");
    let asking = definitions.filter(|definition| walk(*definition).any(|node| asks(source, node)));
    // One that measures as well asks on its own account.
    let short = asking.filter(|definition| !walk(*definition).any(|node| reads_clock(source, node)));
    short.filter_map(|node| Some(text(source, node.child_by_field_name("name")?))).collect()
}

/// What is said of a node that asks for the stream, itself or through a function of this file.
fn query(source: &str, node: Node, asking: &HashSet<&str>) -> Option<String> {
    if asks(source, node) {
        return Some(format!("`{}` is asked for in a loop that is measured", text(source, node)));
    }
    let callee = (node.kind() == "call").then(|| node.child_by_field_name("function"))??;
    let name = text(source, callee);
    (callee.kind() == "identifier" && asking.contains(name))
        .then(|| format!("`{name}` asks for the stream, and is called in a loop that is measured"))
}

/// The outermost expression that asks: `torch.npu.current_stream()._as_parameter_` is one query.
fn asks(source: &str, node: Node) -> bool {
    let is_query = |node: Node| {
        let name = match node.kind() {
            "attribute" => node.child_by_field_name("attribute"),
            "call" => node.child_by_field_name("function").filter(|callee| callee.kind() == "identifier"),
            _ => None,
        };
        name.is_some_and(|name| QUERIES.contains(&text(source, name)))
    };
    if !is_query(node) {
        return false;
    }
    let mut above = node.parent();
    while let Some(outer) = above.filter(|outer| matches!(outer.kind(), "attribute" | "call")) {
        if is_query(outer) {
            return false;
        }
        above = outer.parent();
    }
    true
}

/// Whether the innermost loop around a node lies between two looks at a clock, or has them around the node inside.
fn is_measured(source: &str, node: Node) -> bool {
    let mut inside = node;
    while let Some(above) = inside.parent() {
        match above.kind() {
            // Looked at from outside, a function's body runs where it is called.
            "function_definition" | "lambda" => return false,
            "for_statement" | "while_statement" => {
                return between_clocks(source, above)
                    || body_statement(above, node).is_some_and(|s| between_clocks(source, s));
            }
            _ => inside = above,
        }
    }
    false
}

/// The statement of a loop's body that holds a node.
fn body_statement<'t>(around: Node<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let body = around.child_by_field_name("body")?;
    let mut cursor = body.walk();
    body.named_children(&mut cursor).find(|child| child.byte_range().contains(&node.start_byte()))
}

/// Whether a clock is read before a statement and after it, in the same block and by statements that are no loops.
fn between_clocks(source: &str, statement: Node) -> bool {
    let reads = |node: Node| !node.kind().ends_with("_statement") || node.kind() == "expression_statement";
    let mut before = std::iter::successors(statement.prev_named_sibling(), Node::prev_named_sibling);
    let mut after = std::iter::successors(statement.next_named_sibling(), Node::next_named_sibling);
    let clock = |node: Node| reads(node) && walk(node).any(|node| reads_clock(source, node));
    before.any(clock) && after.any(clock)
}

fn reads_clock(source: &str, node: Node) -> bool {
    let callee = (node.kind() == "call").then(|| node.child_by_field_name("function")).flatten();
    let name = callee.and_then(|callee| match callee.kind() {
        "attribute" => callee.child_by_field_name("attribute"),
        _ => Some(callee),
    });
    name.is_some_and(|name| CLOCKS.contains(&text(source, name)))
}
