//! Kernel launches, source to source: `kernel<<<grid, l2, stream>>>(args)` becomes a call into the CPU runtime.
//!
//! Every piece stays where it was, so lines keep their numbers: text is only put before the kernel's name, after it, and
//! in place of the brackets. What is a launch is decided on the syntax tree (C++ with CUDA's launch syntax, which is the
//! one bisheng took over), never on text: brackets in comments and strings are left alone, and brackets that the parser
//! cannot make sense of are refused with their place, not passed on to a compiler that would say something else.

mod detail;

use std::ops::Range;
use std::path::{Path, PathBuf};

use tree_sitter::{Language, Node, Parser, Tree};

/// A source after the rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The text to compile, with as many lines as the original.
    pub text: String,
    /// The launches found, in the order of the text.
    pub launches: Vec<LaunchSite>,
    /// The line of the kernel's own `namespace detail`, if that had to be renamed.
    pub renamed_detail: Option<usize>,
    /// The quoted includes, as written: `#include "tile.hpp"` gives `tile.hpp` and where it stands in `text`.
    pub includes: Vec<Include>,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSite {
    /// The kernel as written, template arguments included.
    pub kernel: String,
    /// Line in the original, from 1.
    pub line: usize,
}

/// A quoted include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// The name between the quotes.
    pub name: String,
    /// Where that name stands in the rewritten text, in bytes.
    pub range: Range<usize>,
}

/// A launch that cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", path.display())]
pub struct RewriteError {
    /// The file as the user named it.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// Rewrites every launch of `text`. `path` is what messages and launch sites name.
///
/// # Errors
/// A `<<<` outside of comments and strings that is not a launch of a named kernel.
pub fn rewrite(path: &Path, text: &str) -> Result<Rewritten, RewriteError> {
    let mut scan = Scan { path, text, ..Scan::default() };
    let tree = parse(text);
    scan.tree(&tree, 0..text.len(), 0)?;
    scan.refuse_leftovers()?;
    scan.rename_detail(&tree);
    Ok(scan.finish())
}

fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&Language::new(tree_sitter_cuda::LANGUAGE)).expect("the grammar fits the parser library");
    parser.parse(text, None).expect("parsing without a deadline always gives a tree")
}

/// One replacement in the original text.
struct Edit {
    range: Range<usize>,
    text: String,
}

struct Scan<'a> {
    path: &'a Path,
    text: &'a str,
    edits: Vec<Edit>,
    launches: Vec<LaunchSite>,
    includes: Vec<Include>,
    renamed_detail: Option<usize>,
    /// Comments, strings and handled launches: brackets in here need no further thought.
    settled: Vec<Range<usize>>,
}

impl Default for Scan<'_> {
    fn default() -> Self {
        Self {
            path: Path::new(""),
            text: "",
            edits: vec![],
            launches: vec![],
            includes: vec![],
            renamed_detail: None,
            settled: vec![],
        }
    }
}

impl Scan<'_> {
    /// Walks a tree that was parsed from `within` of the text, at `offset` of the parsed text.
    fn tree(&mut self, tree: &Tree, within: Range<usize>, offset: usize) -> Result<(), RewriteError> {
        let place = |node: Node| {
            let shift = |at: usize| (at + within.start).saturating_sub(offset).clamp(within.start, within.end);
            shift(node.start_byte())..shift(node.end_byte())
        };
        let mut pending = vec![tree.root_node()];
        while let Some(node) = pending.pop() {
            match node.kind() {
                "comment" | "string_literal" | "raw_string_literal" | "char_literal" | "system_lib_string" => {
                    self.settled.push(place(node));
                    continue;
                }
                "preproc_include" => self.include(node, place(node)),
                "preproc_arg" if self.text[place(node)].contains("<<<") => self.macro_body(place(node))?,
                "call_expression" => {
                    if let Some(launch) = child_of_kind(node, "kernel_call_syntax") {
                        let function = node.child_by_field_name("function").unwrap_or(node);
                        self.launch(function.kind(), place(function), place(launch))?;
                    }
                }
                _ => {}
            }
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
        Ok(())
    }

    /// A macro's body is opaque to the grammar: parse it as the statement it will become.
    fn macro_body(&mut self, body: Range<usize>) -> Result<(), RewriteError> {
        const BEFORE: &str = "void ptocpu_macro() { ";
        // A continuation is white space to the compiler; the same length keeps offsets.
        let flat = self.text[body.clone()].replace("\\\n", " \n");
        let tree = parse(&format!("{BEFORE}{flat}; }}"));
        self.tree(&tree, body, BEFORE.len())
    }

    fn launch(&mut self, kind: &str, kernel: Range<usize>, brackets: Range<usize>) -> Result<(), RewriteError> {
        if !matches!(kind, "identifier" | "qualified_identifier" | "template_function") {
            return Err(self.error(kernel.start, "a launch needs a kernel's name before `<<<`, not an expression"));
        }
        let name = self.text[kernel.clone()].to_owned();
        let line = self.position(kernel.start).0;
        let site = escape(&format!("{}:{line}", self.path.display()));
        let open = brackets.start..brackets.start + 3;
        let close = brackets.end - 3..brackets.end;
        if &self.text[open.clone()] != "<<<" || &self.text[close.clone()] != ">>>" {
            return Err(self.error(brackets.start, "a launch `<<<` has no matching `>>>`"));
        }
        self.edit(kernel.start..kernel.start, "::ptocpu::site([](auto... ptocpu_a) { ".to_owned());
        self.edit(kernel.end..kernel.end, format!("(ptocpu_a...); }}, [] {{ return PTOCPU_PLACE(\"{site}\"); }})"));
        self.edit(open.clone(), ".grid(".to_owned());
        self.edit(close.clone(), ")".to_owned());
        self.settled.extend([open, close]);
        self.launches.push(LaunchSite { kernel: name, line });
        Ok(())
    }

    fn include(&mut self, node: Node, place: Range<usize>) {
        let Some(path) = node.child_by_field_name("path").filter(|path| path.kind() == "string_literal") else {
            return;
        };
        let start = place.start + (path.start_byte() - node.start_byte()) + 1;
        let end = start + (path.end_byte() - path.start_byte()).saturating_sub(2);
        if let Some(name) = self.text.get(start..end) {
            self.includes.push(Include { name: name.to_owned(), range: start..end });
        }
    }

    fn rename_detail(&mut self, tree: &Tree) {
        let places = detail::places(tree.root_node(), self.text);
        self.renamed_detail = places.first().map(|definition| self.position(definition.start).0);
        for place in places {
            self.edit(place, detail::NEW_NAME.to_owned());
        }
    }

    fn refuse_leftovers(&self) -> Result<(), RewriteError> {
        let open = |&at: &usize| !self.settled.iter().any(|range| range.contains(&at));
        match self.text.match_indices("<<<").map(|(at, _)| at).find(open) {
            Some(at) => {
                Err(self.error(at, "`<<<` is not understood here: expected `kernel<<<grid, nullptr, stream>>>(args)`"))
            }
            None => Ok(()),
        }
    }

    fn edit(&mut self, range: Range<usize>, text: String) {
        self.edits.push(Edit { range, text });
    }

    fn finish(mut self) -> Rewritten {
        // At one place an insertion that closes a name comes before a replacement that starts there.
        self.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        self.launches.sort_by_key(|launch| launch.line);
        let mut text = String::with_capacity(self.text.len() + 128 * self.edits.len());
        let mut done = 0;
        let mut shifts = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            text.push_str(&self.text[done..edit.range.start]);
            text.push_str(&edit.text);
            done = edit.range.end;
            shifts.push((edit.range.end, text.len()));
        }
        text.push_str(&self.text[done..]);
        let moved = |at: usize| match shifts.iter().rev().find(|(original, _)| *original <= at) {
            Some((original, new)) => new + (at - original),
            None => at,
        };
        for include in &mut self.includes {
            include.range = moved(include.range.start)..moved(include.range.end);
        }
        self.includes.sort_by_key(|include| include.range.start);
        Rewritten { text, launches: self.launches, renamed_detail: self.renamed_detail, includes: self.includes }
    }

    fn error(&self, at: usize, message: &str) -> RewriteError {
        let (line, column) = self.position(at);
        RewriteError { path: self.path.to_path_buf(), line, column, message: message.to_owned() }
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        (before.matches('\n').count() + 1, at - before.rfind('\n').map_or(0, |newline| newline + 1) + 1)
    }
}

fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

/// A path inside a C string literal.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests;
