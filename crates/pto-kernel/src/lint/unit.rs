//! A source with the headers it includes by quotes: what its author can see of the functions it calls.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use tree_sitter::Node;

use super::tree::{callee, text, walk, walk_outside};
use crate::source::{Function, Source};

/// More headers than any kernel has; a tree of generated ones ends here.
const MOST_HEADERS: usize = 64;

pub(super) struct Unit<'a> {
    /// The source itself.
    pub(super) source: &'a Source,
    headers: Vec<Source>,
    /// Bodies by the function's name: the file, and the function in it.
    functions: HashMap<String, Vec<(usize, usize)>>,
    /// Macros with arguments, and what they stand for.
    pub(super) macros: HashMap<String, String>,
    /// Constants outside of functions, and what they stand for.
    pub(super) constants: HashMap<String, String>,
    /// Functions that set or wait for flags, themselves or through others.
    flagged: HashSet<String>,
}

/// A function that is defined here.
#[derive(Clone, Copy)]
pub(super) struct Definition<'u> {
    pub(super) source: &'u Source,
    pub(super) function: &'u Function,
    pub(super) body: Node<'u>,
}

impl<'a> Unit<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        let headers = headers(source);
        let mut unit = Self {
            source,
            headers,
            functions: HashMap::new(),
            macros: HashMap::new(),
            constants: HashMap::new(),
            flagged: HashSet::new(),
        };
        let mut functions: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let (mut macros, mut constants) = (HashMap::new(), HashMap::new());
        for (file, source) in unit.sources().enumerate() {
            for (at, function) in source.functions().iter().enumerate().filter(|(_, f)| f.body.is_some()) {
                functions.entry(function.name.clone()).or_default().push((file, at));
            }
            macros.extend(macro_functions(source));
            for (name, value) in global_constants(source) {
                // Of two, `#if` chooses one: then it stands for neither.
                let known = constants.insert(name.clone(), value.clone());
                if known.is_some_and(|known| known != value) {
                    constants.insert(name.clone(), name);
                }
            }
        }
        unit.functions = functions;
        unit.macros = macros;
        unit.constants = constants;
        unit.flagged = unit.find_flagged();
        unit
    }

    fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(self.source).chain(&self.headers)
    }

    /// The kernels of the source itself.
    pub(super) fn kernels(&self) -> Vec<Definition<'_>> {
        let kernels = self.source.kernels().filter(|kernel| kernel.body.is_some());
        kernels.filter_map(|function| definition(self.source, function)).collect()
    }

    /// The functions of the source itself that have a body.
    pub(super) fn bodies(&self) -> Vec<Definition<'_>> {
        let functions = self.source.functions().iter();
        functions.filter_map(|function| definition(self.source, function)).collect()
    }

    /// What a name can stand for: more than one where it is overloaded, or where `#if` chooses.
    pub(super) fn definitions(&self, name: &str) -> Vec<Definition<'_>> {
        let places = self.functions.get(name).map(Vec::as_slice).unwrap_or_default();
        let sources: Vec<&Source> = self.sources().collect();
        places.iter().filter_map(|(file, at)| definition(sources[*file], &sources[*file].functions()[*at])).collect()
    }

    /// Whether a function sets or waits for flags.
    pub(super) fn is_flagged(&self, name: &str) -> bool {
        self.flagged.contains(name)
    }

    fn find_flagged(&self) -> HashSet<String> {
        let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
        for name in self.functions.keys() {
            for definition in self.definitions(name) {
                for callee in called(definition.source.text(), definition.body) {
                    callers.entry(callee).or_default().push(name);
                }
            }
        }
        let mut open: Vec<&str> = vec!["set_flag", "wait_flag"];
        open.extend(self.macros.iter().filter(|(_, text)| text.contains("_flag")).map(|(name, _)| name.as_str()));
        let mut flagged = HashSet::new();
        while let Some(name) = open.pop() {
            if flagged.insert(name.to_owned()) {
                open.extend(callers.get(name).into_iter().flatten());
            }
        }
        flagged
    }
}

fn definition<'u>(source: &'u Source, function: &'u Function) -> Option<Definition<'u>> {
    let range = function.body.clone()?;
    let body = source.tree().root_node().descendant_for_byte_range(range.start, range.end.saturating_sub(1))?;
    Some(Definition { source, function, body })
}

/// The names of the functions that are called below a node.
pub(super) fn called<'s>(source: &'s str, node: Node<'s>) -> Vec<&'s str> {
    walk(node).filter(|node| node.kind() == "call_expression").filter_map(|call| callee(source, call)).collect()
}

fn macro_functions(source: &Source) -> HashMap<String, String> {
    let definitions = walk(source.tree().root_node()).filter(|node| node.kind() == "preproc_function_def");
    let macros = definitions.filter_map(|node| {
        let name = text(source.text(), node.child_by_field_name("name")?);
        let value = node.child_by_field_name("value").map_or("", |value| text(source.text(), value));
        Some((name.to_owned(), value.to_owned()))
    });
    macros.collect()
}

/// `constexpr event_t LOADED = EVENT_ID0;` outside of functions, and `#define LOADED EVENT_ID0` anywhere.
fn global_constants(source: &Source) -> Vec<(String, String)> {
    let text_of = |node: Node| text(source.text(), node).trim().to_owned();
    let pair = |node: Node, name: &str| {
        Some((text_of(node.child_by_field_name(name)?), text_of(node.child_by_field_name("value")?)))
    };
    let root = source.tree().root_node();
    let macros =
        walk(root).filter(|node| node.kind() == "preproc_def").filter_map(|definition| pair(definition, "name"));
    let declarations = walk_outside(root, |node| node.kind() == "compound_statement")
        .filter(|node| node.kind() == "declaration" && text(source.text(), *node).contains("const"))
        .filter_map(|declaration| declaration.child_by_field_name("declarator"))
        .filter(|declarator| declarator.kind() == "init_declarator")
        .filter_map(|declarator| pair(declarator, "declarator"));
    macros.chain(declarations).filter(|(_, value)| value.chars().all(|c| c.is_alphanumeric() || c == '_')).collect()
}

/// Headers in quotes that lie beside the source, and those that they include.
fn headers(source: &Source) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut wanted = quoted(source);
    while let Some(path) = wanted.pop() {
        if found.len() == MOST_HEADERS || !seen.insert(path.clone()) {
            continue;
        }
        if let Ok(header) = Source::read(&path) {
            wanted.extend(quoted(&header));
            found.push(header);
        }
    }
    found
}

fn quoted(source: &Source) -> Vec<PathBuf> {
    let Some(dir) = source.path().parent() else { return Vec::new() };
    let lines = source.text().lines().filter_map(|line| line.trim().strip_prefix("#include"));
    let names = lines.filter_map(|rest| rest.trim().strip_prefix('"')?.split_once('"'));
    names.map(|(name, _)| dir.join(name)).filter(|path| path.is_file()).collect()
}
