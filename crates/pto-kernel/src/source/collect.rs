//! Collects the functions of a parsed source.

use tree_sitter::{Node, Tree};

use super::functions::{Function, LaunchSite, Param, TemplateParam};
use super::mask::{LaunchConfig, Masked};
use super::types::classify;

/// Collects every function of a parsed source.
pub(super) fn collect(source: &str, masked: &Masked, tree: &Tree) -> Vec<Function> {
    let mut functions = Vec::new();
    let mut stack = vec![(tree.root_node(), Scope::default())];
    while let Some((node, mut scope)) = stack.pop() {
        match node.kind() {
            "linkage_specification" => {
                let language = node.child_by_field_name("value").map(|n| slice(source, n));
                scope.extern_c |= language == Some("\"C\"");
            }
            "namespace_definition" => {
                // An anonymous namespace adds no name to a path, and its functions have no symbol.
                match node.child_by_field_name("name") {
                    Some(name) => scope.path.push(slice(source, name).to_owned()),
                    None => scope.local = true,
                }
            }
            "template_declaration" => scope.template = template_params(source, node),
            "function_definition" | "declaration" => functions.extend(function(source, node, &scope)),
            _ => {}
        }
        let mut cursor = node.walk();
        let children: Vec<Node> = node.children(&mut cursor).collect();
        stack.extend(children.into_iter().rev().map(|child| (child, scope.clone())));
    }
    attach_kernels(&mut functions, masked);
    attach_launches(source, masked, tree, &mut functions);
    functions.into_iter().map(|found| found.function).collect()
}

/// What surrounds a declaration.
#[derive(Debug, Clone, Default)]
struct Scope {
    path: Vec<String>,
    extern_c: bool,
    local: bool,
    template: Vec<TemplateParam>,
}

struct Found {
    name_at: usize,
    function: Function,
}

fn function(source: &str, node: Node, scope: &Scope) -> Option<Found> {
    let declarator = function_declarator(node.child_by_field_name("declarator")?)?;
    let name_node = declarator.child_by_field_name("declarator")?;
    let written = slice(source, name_node);
    let name = written.rsplit("::").next().unwrap_or(written).to_owned();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut path = scope.path.clone();
    path.push(written.to_owned());
    let specifiers = source.get(node.start_byte()..name_node.start_byte()).unwrap_or_default();
    let is_local = scope.local || specifiers.split_whitespace().any(|word| matches!(word, "static" | "inline"));
    let params = declarator.child_by_field_name("parameters").map(|list| params(source, list)).unwrap_or_default();
    let body = node.child_by_field_name("body").map(|body| body.byte_range());
    let function = Function {
        name,
        qualified: path.join("::"),
        line: name_node.start_position().row + 1,
        params,
        template: scope.template.clone(),
        extern_c: scope.extern_c,
        is_global: false,
        is_local,
        body,
        launches: Vec::new(),
    };
    Some(Found { name_at: name_node.start_byte(), function })
}

fn function_declarator(mut node: Node) -> Option<Node> {
    loop {
        match node.kind() {
            "function_declarator" => return Some(node),
            "pointer_declarator" | "reference_declarator" | "init_declarator" | "parenthesized_declarator" => {
                node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?;
            }
            _ => return None,
        }
    }
}

/// Each parameter's text reaches from the bracket or comma before it, so that a blanked-out `__gm__` in front is part of it.
fn params(source: &str, list: Node) -> Vec<Param> {
    let (mut params, mut start) = (Vec::new(), list.start_byte() + 1);
    let mut cursor = list.walk();
    for child in list.children(&mut cursor) {
        match child.kind() {
            "parameter_declaration" | "optional_parameter_declaration" => {
                params.extend(param(source, start, child));
            }
            "," => start = child.end_byte(),
            _ => {}
        }
    }
    params
}

fn param(source: &str, start: usize, node: Node) -> Option<Param> {
    let end = node.child_by_field_name("default_value").map_or(node.end_byte(), |default| default.start_byte());
    let name_node = node.child_by_field_name("declarator").and_then(innermost_name);
    let ty = match name_node {
        Some(name) => format!("{} {}", source.get(start..name.start_byte())?, source.get(name.end_byte()..end)?),
        None => source.get(start..end)?.to_owned(),
    };
    let ty = without_comments(ty.trim().trim_end_matches('='));
    if ty == "void" && name_node.is_none() {
        return None; // `f(void)`
    }
    Some(Param { name: name_node.map(|n| slice(source, n).to_owned()), class: classify(&ty), ty })
}

fn innermost_name(node: Node) -> Option<Node> {
    let mut node = node;
    loop {
        if node.kind() == "identifier" {
            return Some(node);
        }
        node = node
            .child_by_field_name("declarator")
            .or_else(|| node.named_child(node.named_child_count().checked_sub(1)? as u32))?;
    }
}

/// A type on one line, its comments dropped.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..open]);
        let close = if rest[open..].starts_with("/*") { "*/" } else { "\n" };
        rest = rest[open..].find(close).map_or("", |n| &rest[open + n + close.len()..]);
        out.push(' ');
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn template_params(source: &str, node: Node) -> Vec<TemplateParam> {
    let Some(list) = node.child_by_field_name("parameters") else { return Vec::new() };
    let mut cursor = list.walk();
    list.named_children(&mut cursor)
        .filter(|child| child.kind().contains("parameter"))
        .map(|child| TemplateParam {
            name: template_param_name(source, child),
            text: slice(source, child).to_owned(),
            has_default: child.kind().starts_with("optional"),
        })
        .collect()
}

fn template_param_name(source: &str, node: Node) -> String {
    let text = slice(source, node);
    let before_default = text.split('=').next().unwrap_or(text);
    let mut words = before_default.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.next_back().unwrap_or_default().to_owned()
}

/// A blanked-out `__global__` belongs to the first function named after it.
fn attach_kernels(functions: &mut [Found], masked: &Masked) {
    for &global in &masked.globals {
        if let Some(found) = functions.iter_mut().filter(|f| f.name_at > global).min_by_key(|f| f.name_at) {
            found.function.is_global = true;
        }
    }
}

/// A blanked-out launch configuration stands between what is launched and its argument list: what is left parses as a call.
fn attach_launches(source: &str, masked: &Masked, tree: &Tree, functions: &mut [Found]) {
    for config in &masked.launches {
        let Some(site) = launch_site(source, tree, config) else { continue };
        let inside = |f: &&mut Found| f.function.body.as_ref().is_some_and(|body| body.contains(&config.span.start));
        // The innermost body: the one that starts last.
        if let Some(found) = functions.iter_mut().filter(inside).max_by_key(|f| f.name_at) {
            found.function.launches.push(site);
        }
    }
}

fn launch_site(source: &str, tree: &Tree, config: &LaunchConfig) -> Option<LaunchSite> {
    let after = source.get(config.span.end..)?.find('(')? + config.span.end;
    let mut node = tree.root_node().descendant_for_byte_range(after, after + 1)?;
    while node.kind() != "call_expression" {
        node = node.parent()?;
    }
    let callee = node.child_by_field_name("function")?;
    let list = node.child_by_field_name("arguments")?;
    let mut cursor = list.walk();
    let args =
        list.named_children(&mut cursor).filter(|n| n.kind() != "comment").map(|n| argument(source, n)).collect();
    let kernel = slice(source, callee).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(LaunchSite { kernel, config: config.items.clone(), args, line: callee.start_position().row + 1 })
}

fn argument(source: &str, node: Node) -> String {
    slice(source, node).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn slice<'a>(source: &'a str, node: Node) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}
