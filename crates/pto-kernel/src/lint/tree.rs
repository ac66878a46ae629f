//! Small questions to a syntax tree.

use tree_sitter::Node;

/// A node's text.
pub(super) fn text<'a>(source: &'a str, node: Node) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// All nodes below one, itself first, in the order of the text.
pub(super) fn walk(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    walk_outside(root, |_| false)
}

/// The same without the nodes that `is_left_out` says, and all that is below these. To ask each node for its parents would
/// take time with the square of the text: the grammar finds a parent by looking for it from the root.
pub(super) fn walk_outside<'t>(
    root: Node<'t>,
    is_left_out: impl Fn(Node<'t>) -> bool,
) -> impl Iterator<Item = Node<'t>> {
    let mut stack = vec![root];
    std::iter::from_fn(move || {
        let node = loop {
            let node = stack.pop()?;
            if !is_left_out(node) {
                break node;
            }
        };
        let mut cursor = node.walk();
        let children: Vec<Node> = node.children(&mut cursor).collect();
        stack.extend(children.into_iter().rev());
        Some(node)
    })
}

/// The children that are not comments.
pub(super) fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// What a call calls, without namespaces, objects and template arguments.
pub(super) fn callee<'a>(source: &'a str, call: Node) -> Option<&'a str> {
    let mut node = call.child_by_field_name("function")?;
    loop {
        node = match node.kind() {
            "template_function" | "template_method" | "qualified_identifier" | "dependent_name" => {
                node.child_by_field_name("name").or_else(|| node.named_child(0))?
            }
            "field_expression" => node.child_by_field_name("field")?,
            "parenthesized_expression" => node.named_child(0)?,
            "identifier" | "field_identifier" => return Some(text(source, node)),
            _ => return None,
        }
    }
}

/// The arguments of a call.
pub(super) fn arguments<'t>(call: Node<'t>) -> Vec<Node<'t>> {
    call.child_by_field_name("arguments").map(named).unwrap_or_default()
}

/// On one line, blanks between words only where there were some.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
