//! Follows a pointer through a source: from the launcher into the kernel and its helpers, to the instructions that load
//! through it or store through it, noting the types it is cast to on the way.
//!
//! A guess by design: a name is followed where it stands leftmost in an expression (`x + offset`, `(half *)x`, `x_tile[0]`),
//! which is how kernels pass addresses on. Branches, aliasing and shadowing are not understood.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::source::{Function, Source, TypeClass};

/// What was seen of one pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The element types it has or is cast to, as the source spells them.
    pub(super) types: BTreeSet<String>,
    /// Whether something is loaded through it.
    pub(super) loaded: bool,
    /// Whether something is stored through it.
    pub(super) stored: bool,
}

/// Types that only say "an address".
const OPAQUE: [&str; 4] = ["void", "uint8_t", "char", "int8_t"];

/// Helpers are followed this deep; no kernel seen needs more than four.
const DEEPEST: usize = 12;

/// What happens to one parameter of a function.
pub(super) fn follow(source: &Source, function: &Function, param: usize) -> Facts {
    let mut walk = Walk { source, facts: Facts::default(), seen: BTreeSet::new() };
    walk.function(function, param, &[], 0);
    walk.facts
}

/// Template parameters and what stands for them.
type Replacements = [(String, String)];

struct Walk<'a> {
    source: &'a Source,
    facts: Facts,
    /// Functions and parameters that were followed, to end recursion.
    seen: BTreeSet<(usize, usize)>,
}

impl Walk<'_> {
    fn function(&mut self, function: &Function, param: usize, replacements: &Replacements, depth: usize) {
        let Some(declared) = function.params.get(param) else { return };
        if depth > DEEPEST || !self.seen.insert((function.line, param)) {
            return;
        }
        if let TypeClass::Pointer { pointee, .. } = &declared.class {
            self.note_type(pointee, replacements);
        }
        let (Some(name), Some(body)) = (&declared.name, &function.body) else { return };
        let Some(node) =
            self.source.tree().root_node().descendant_for_byte_range(body.start, body.end.saturating_sub(1))
        else {
            return;
        };
        let mut aliases = BTreeSet::from([name.clone()]);
        self.statements(node, &mut aliases, replacements, depth);
    }

    /// Visits a body in the order of its text: an alias is made before it is used.
    fn statements(&mut self, body: Node, aliases: &mut BTreeSet<String>, replacements: &Replacements, depth: usize) {
        let mut stack = vec![body];
        while let Some(node) = stack.pop() {
            match node.kind() {
                "declaration" => self.declaration(node, aliases),
                "assignment_expression" => self.assignment(node, aliases),
                "cast_expression" => self.cast(node, aliases, replacements),
                "call_expression" => self.call(node, aliases, replacements, depth),
                _ => {}
            }
            let mut cursor = node.walk();
            let children: Vec<Node> = node.named_children(&mut cursor).collect();
            stack.extend(children.into_iter().rev());
        }
    }

    /// `auto p = x + 1;` and `Global g(x + 1);`, which a grammar may also read as the declaration of a function.
    fn declaration(&self, node: Node, aliases: &mut BTreeSet<String>) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(name) = innermost_identifier(declarator) else { continue };
            let value =
                declarator.child_by_field_name("value").or_else(|| declarator.child_by_field_name("parameters"));
            if value.and_then(|value| self.leftmost(value)).is_some_and(|from| aliases.contains(from)) {
                aliases.insert(self.text(name).to_owned());
            }
        }
    }

    fn assignment(&self, node: Node, aliases: &mut BTreeSet<String>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        if left.kind() == "identifier" && self.leftmost(right).is_some_and(|from| aliases.contains(from)) {
            aliases.insert(self.text(left).to_owned());
        }
    }

    fn cast(&mut self, node: Node, aliases: &BTreeSet<String>, replacements: &Replacements) {
        let (Some(ty), Some(value)) = (node.child_by_field_name("type"), node.child_by_field_name("value")) else {
            return;
        };
        if self.leftmost(value).is_some_and(|from| aliases.contains(from)) {
            self.note_cast(self.text(ty).to_owned(), replacements);
        }
    }

    fn call(&mut self, node: Node, aliases: &mut BTreeSet<String>, replacements: &Replacements, depth: usize) {
        let (Some(callee), Some(list)) = (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return;
        };
        let (name, template_args) = self.callee(callee);
        let mut cursor = list.walk();
        let args: Vec<Node> = list.named_children(&mut cursor).filter(|arg| arg.kind() != "comment").collect();
        let from_alias = |index: usize, walk: &Self| {
            args.get(index).and_then(|arg| walk.leftmost(*arg)).is_some_and(|from| aliases.contains(from))
        };
        match name.as_str() {
            "reinterpret_cast" | "static_cast" if from_alias(0, self) => {
                if let Some(ty) = template_args.first() {
                    self.note_cast(ty.clone(), replacements);
                }
            }
            "TASSIGN" if from_alias(1, self) => {
                if let Some(to) = args.first().and_then(|arg| self.leftmost(*arg)) {
                    aliases.insert(to.to_owned());
                }
            }
            store if is_store(store) => self.facts.stored |= from_alias(0, self),
            load if is_load(load) => self.facts.loaded |= from_alias(1, self),
            _ => {
                let followed: Vec<usize> = (0..args.len()).filter(|index| from_alias(*index, self)).collect();
                self.callees(&name, &template_args, &followed, args.len(), replacements, depth);
            }
        }
    }

    /// Follows the arguments into every function of this name that takes as many.
    fn callees(
        &mut self,
        name: &str,
        template_args: &[String],
        followed: &[usize],
        arity: usize,
        outer: &Replacements,
        depth: usize,
    ) {
        let source = self.source;
        let fits = |f: &&Function| f.name == name && f.body.is_some() && f.params.len() >= arity;
        for function in source.functions().iter().filter(fits) {
            let names = function.template.iter().map(|param| param.name.clone());
            let inner: Vec<(String, String)> =
                names.zip(template_args.iter().map(|arg| replaced(arg, outer))).collect();
            for &index in followed {
                self.function(function, index, &inner, depth + 1);
            }
        }
    }

    /// The called name without namespaces, and its template arguments.
    fn callee(&self, node: Node) -> (String, Vec<String>) {
        match node.kind() {
            "qualified_identifier" => {
                node.child_by_field_name("name").map_or_else(Default::default, |name| self.callee(name))
            }
            "template_function" => {
                let name = node.child_by_field_name("name").map(|name| self.text(name).to_owned()).unwrap_or_default();
                let list = node.child_by_field_name("arguments");
                let args = list.map(|list| {
                    let mut cursor = list.walk();
                    list.named_children(&mut cursor).map(|arg| self.text(arg).to_owned()).collect()
                });
                (name, args.unwrap_or_default())
            }
            _ => (self.text(node).to_owned(), Vec::new()),
        }
    }

    /// The identifier an expression starts with, brackets, casts and operators aside.
    fn leftmost(&self, node: Node) -> Option<&str> {
        let mut node = node;
        loop {
            node = match node.kind() {
                "identifier" | "type_identifier" => return Some(self.text(node)),
                "cast_expression" => node.child_by_field_name("value")?,
                "binary_expression" => node.child_by_field_name("left")?,
                "pointer_expression" | "subscript_expression" | "field_expression" => {
                    node.child_by_field_name("argument")?
                }
                "conditional_expression" => node.child_by_field_name("consequence")?,
                "call_expression" => {
                    let (name, _) = self.callee(node.child_by_field_name("function")?);
                    if !name.ends_with("_cast") {
                        return None;
                    }
                    node.child_by_field_name("arguments")?
                }
                "parenthesized_expression"
                | "argument_list"
                | "parameter_list"
                | "parameter_declaration"
                | "initializer_list" => node.named_child(0)?,
                _ => return None,
            };
        }
    }

    fn note_cast(&mut self, ty: String, replacements: &Replacements) {
        if ty.contains('*') {
            self.note_type(&ty.replace('*', " "), replacements);
        }
    }

    fn note_type(&mut self, ty: &str, replacements: &Replacements) {
        let words = ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "__gm__"));
        let name = replaced(&words.collect::<Vec<_>>().join(" "), replacements);
        if !OPAQUE.contains(&name.as_str()) && !name.is_empty() {
            self.facts.types.insert(name);
        }
    }

    fn text(&self, node: Node) -> &str {
        self.source.text().get(node.byte_range()).unwrap_or_default()
    }
}

fn replaced(name: &str, replacements: &Replacements) -> String {
    replacements.iter().find(|(from, _)| from == name).map_or(name, |(_, to)| to.as_str()).to_owned()
}

fn is_store(name: &str) -> bool {
    name.starts_with("TSTORE") || name.starts_with("copy_ubuf_to_gm") || name.starts_with("copy_matrix_cc_to_gm")
}

fn is_load(name: &str) -> bool {
    name.starts_with("TLOAD") || name.starts_with("copy_gm_to")
}

fn innermost_identifier(node: Node) -> Option<Node> {
    let mut node = node;
    while node.kind() != "identifier" {
        node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?;
    }
    Some(node)
}
