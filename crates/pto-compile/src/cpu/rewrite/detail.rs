//! A kernel's own `namespace detail` beside `using namespace pto`.
//!
//! Newer PTO-ISA headers have a `pto::detail`, and then each `detail::` of such a kernel is ambiguous. The kernel's own is
//! given another name, of as many lines, and that is said: the device compiler refuses what we accept here.

use std::ops::Range;

use tree_sitter::Node;

const NAME: &str = "detail";
pub(super) const NEW_NAME: &str = "kernel_detail";

/// The places to rename, if the file at `root` has its own `detail` and takes in PTO's names; the definition's first.
pub(super) fn places(root: Node, text: &str) -> Vec<Range<usize>> {
    let mut defined = Vec::new();
    let mut used = Vec::new();
    let mut takes_pto_in = false;
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        if is_name(node, text) {
            match node.parent().map(|parent| parent.kind()) {
                Some("namespace_definition") if at_file_scope(node) => defined.push(node.byte_range()),
                Some("qualified_identifier") if is_leftmost(node, text) => used.push(node.byte_range()),
                Some("using_declaration") => used.push(node.byte_range()),
                _ => {}
            }
        }
        takes_pto_in |= node.kind() == "using_declaration" && is_using_pto(&text[node.byte_range()]);
        let mut cursor = node.walk();
        pending.extend(node.children(&mut cursor));
    }
    if defined.is_empty() || !takes_pto_in {
        return Vec::new();
    }
    defined.sort_by_key(|range| range.start);
    defined.into_iter().chain(used).collect()
}

fn is_name(node: Node, text: &str) -> bool {
    matches!(node.kind(), "namespace_identifier" | "identifier") && &text[node.byte_range()] == NAME
}

fn is_using_pto(declaration: &str) -> bool {
    declaration.trim_end_matches(';').split_whitespace().eq(["using", "namespace", "pto"])
}

/// Not inside of another namespace: then the qualified name is another one.
fn at_file_scope(name: Node) -> bool {
    let mut above = name.parent().and_then(|definition| definition.parent());
    while let Some(node) = above {
        if node.kind() == "namespace_definition" {
            return false;
        }
        above = node.parent();
    }
    true
}

/// `detail::x` and `::detail::x`, not `other::detail::x`.
fn is_leftmost(name: Node, text: &str) -> bool {
    let before = text[..name.start_byte()].trim_end();
    match before.strip_suffix("::") {
        None => true,
        Some(before) => !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>'),
    }
}
