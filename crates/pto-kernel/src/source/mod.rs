//! What a kernel's source declares: its functions, which of them are kernels and launchers, and what they launch.

mod collect;
mod functions;
mod mask;
mod types;

use std::path::{Path, PathBuf};

pub use functions::{Function, LaunchSite, Param, TemplateParam};
pub use types::TypeClass;

pub(crate) use mask::words;

use mask::Masked;

/// A C++ source that was read for its declarations. Reading never fails: what the grammar does not understand is skipped.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    text: String,
    tree: tree_sitter::Tree,
    functions: Vec<Function>,
}

impl Source {
    /// Reads a source text. `path` is used in messages only.
    pub fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let text = text.into();
        let masked = mask::mask(&text);
        let tree = grammar(&masked);
        let functions = collect::collect(&text, &masked, &tree);
        Self { path: path.into(), text, tree, functions }
    }

    /// Reads a source file.
    ///
    /// # Errors
    /// The file cannot be read. Bytes that are not UTF-8 are replaced: declarations are ASCII.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let bytes = crate::read::regular(path)?;
        Ok(Self::parse(path, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text as read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All functions declared or defined, in the order of the text.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The `__global__` functions.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_global)
    }

    /// The host functions with C linkage that can launch: defined here, and they launch themselves or take a stream.
    pub fn launchers(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_launcher())
    }

    pub(crate) fn tree(&self) -> &tree_sitter::Tree {
        &self.tree
    }
}

/// Brackets inside of each other. Nobody writes more, and the grammar takes time with more than their number.
const MOST_BRACKETS: usize = 256;
/// Nodes inside of each other: a sum of so many terms. Walks take time with the square of it.
const MOST_NODES: usize = 4096;

/// A source that is nested beyond all measure is not understood at all.
fn grammar(masked: &Masked) -> tree_sitter::Tree {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_cpp::LANGUAGE.into()).expect("the linked C++ grammar has the library's ABI");
    let mut parse = |text: &str| parser.parse(text, None).expect("parsing without cancellation ends with a tree");
    if brackets(&masked.text) > MOST_BRACKETS {
        return parse("");
    }
    let tree = parse(&masked.text);
    if is_deeper(&tree, MOST_NODES) { parse("") } else { tree }
}

fn brackets(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn is_deeper(tree: &tree_sitter::Tree, most: usize) -> bool {
    let (mut cursor, mut depth) = (tree.walk(), 0_usize);
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > most {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_beyond_all_measure_takes_no_time() {
        const N: usize = 100_000;
        let deep = [
            format!("int f() {{ return {}1{}; }}", "(".repeat(N), ")".repeat(N)),
            format!("int f() {{ return 1{}; }}", " + 1".repeat(N)),
            "void f() { if (a) {".repeat(N),
        ];
        for text in deep {
            assert!(Source::parse("k.cpp", text).functions().is_empty());
        }
        let usual = format!("extern \"C\" void f() {{ g({}1{}); }}", "(".repeat(50), ")".repeat(50));
        assert_eq!(Source::parse("k.cpp", usual).functions().len(), 1);
    }
}
