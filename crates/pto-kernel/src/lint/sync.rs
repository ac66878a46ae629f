//! `missing-sync`: between the pipe that writes a tile and the pipe that reads it, something waits.
//!
//! Only a direction that is missing altogether is found: a function in which a load is read by an instruction further down, or a
//! result of the vector pipe is stored, and in which nothing waits for that pipe. A function that calls what may synchronize,
//! known by its own body or not at all, is not judged.

use std::collections::HashMap;

use tree_sitter::Node;

use super::tree::{arguments, callee, text, walk};
use super::unit::{Definition, Unit};
use super::vector_mask::VECTOR;
use super::{Finding, Place, Rule};

/// Calls that synchronize nothing.
const HARMLESS: [&str; 14] = [
    "get_block_idx",
    "get_block_num",
    "get_subblockid",
    "get_subblockdim",
    "set_mask_norm",
    "set_vector_mask",
    "set_flag",
    "static_cast",
    "reinterpret_cast",
    "min",
    "max",
    "TASSIGN",
    "TPRINT",
    "TINSERT",
];
/// What reads a loaded tile besides the vector pipe.
const OTHER_READERS: [&str; 7] = ["TMOV", "TEXTRACT", "TMATMUL", "TMATMUL_ACC", "TMATMUL_BIAS", "TMATMUL_MX", "TSTORE"];

pub(super) fn check(unit: &Unit<'_>) -> Vec<Finding> {
    unit.bodies().iter().flat_map(|definition| in_function(unit, definition)).collect()
}

fn in_function(unit: &Unit<'_>, definition: &Definition<'_>) -> Vec<Finding> {
    let source = definition.source.text();
    // Without addresses the compiler places the tiles, and synchronizes as well.
    if !text(source, definition.body).contains("TASSIGN") {
        return Vec::new();
    }
    let mut seen = Seen::default();
    for node in walk(definition.body) {
        let known = match node.kind() {
            "call_expression" => seen.call(unit, source, node),
            // Events carry their own waits, and a word alone may be a macro.
            "type_identifier" => text(source, node) != "Event",
            "expression_statement" => node.named_child(0).is_none_or(|child| child.kind() != "identifier"),
            _ => true,
        };
        if !known {
            return Vec::new();
        }
    }
    seen.findings(definition)
}

/// What a function does, in the order of its text.
#[derive(Default)]
struct Seen<'s> {
    /// Tiles by name: where a load writes them, and where the vector pipe does.
    loaded: HashMap<&'s str, usize>,
    computed: HashMap<&'s str, (&'s str, usize)>,
    /// Where everything is waited for.
    barrier: usize,
    /// Whether something waits for loads, and something for the vector pipe before a store.
    waits_for_load: bool,
    waits_for_vector: bool,
    /// The first instruction that reads too early, in each direction: tile, writer, where it was written, reader, where it reads.
    early_read: Option<Early<'s>>,
    early_store: Option<Early<'s>>,
}

#[derive(Clone, Copy)]
struct Early<'s> {
    tile: &'s str,
    writer: &'s str,
    written: usize,
    reader: &'s str,
    read: usize,
}

impl<'s> Seen<'s> {
    /// Takes a call; `false` where it may synchronize and nobody can tell.
    fn call(&mut self, unit: &Unit<'_>, source: &'s str, call: Node<'s>) -> bool {
        let Some(name) = callee(source, call) else { return false };
        if unit.macros.contains_key(name) || !unit.definitions(name).is_empty() {
            return false;
        }
        let arguments: Vec<&str> = arguments(call).into_iter().map(|node| text(source, node)).collect();
        let at = call.start_byte();
        match (name, arguments.as_slice()) {
            ("wait_flag", [from, to, ..]) if is_pipe(from) && is_pipe(to) => {
                self.waits_for_load |= *from == "PIPE_MTE2";
                self.waits_for_vector |= *from == "PIPE_V" && matches!(*to, "PIPE_MTE3" | "PIPE_S");
            }
            ("pipe_barrier", ["PIPE_ALL"]) => self.barrier = at,
            ("pipe_barrier", [pipe]) if is_pipe(pipe) => {}
            ("TLOAD", [tile, _]) => {
                self.loaded.insert(tile, at);
                self.computed.remove(tile);
            }
            ("TSTORE", [_, tile]) => {
                self.read(name, at, &[tile]);
                let written = self.computed.get(tile).filter(|(_, written)| *written > self.barrier);
                if let Some((writer, written)) = written {
                    let early = Early { tile, writer, written: *written, reader: name, read: at };
                    self.early_store.get_or_insert(early);
                }
            }
            (name, [tile, rest @ ..]) if VECTOR.contains(&name) => {
                self.read(name, at, rest);
                self.loaded.remove(tile);
                self.computed.insert(tile, (name, at));
            }
            (name, [tile, rest @ ..]) if OTHER_READERS.contains(&name) => {
                self.read(name, at, rest);
                self.loaded.remove(tile);
                self.computed.remove(tile);
            }
            (name, _) => return HARMLESS.contains(&name),
        }
        true
    }

    /// Tiles that are read: the first that a load writes with nothing between.
    fn read(&mut self, reader: &'s str, at: usize, tiles: &[&'s str]) {
        let early = tiles.iter().find_map(|tile| {
            let written = *self.loaded.get(tile).filter(|written| **written > self.barrier)?;
            Some(Early { tile, writer: "TLOAD", written, reader, read: at })
        });
        self.early_read = self.early_read.or(early);
    }

    fn findings(&self, definition: &Definition<'_>) -> Vec<Finding> {
        let place = Place::of(definition.source);
        let read = self.early_read.filter(|_| !self.waits_for_load).map(|early| (early, "PIPE_MTE2"));
        let store = self.early_store.filter(|_| !self.waits_for_vector).map(|early| (early, "PIPE_V"));
        let finding = |(early, pipe): (Early<'_>, &str)| {
            let line = place.text[..early.written].matches('\n').count() + 1;
            let Early { tile, writer, reader, read, .. } = early;
            let function = &definition.function.name;
            let message = format!(
                "`{reader}` reads `{tile}`, which `{writer}` in line {line} writes, and nothing in `{function}` waits for {pipe}"
            );
            place.finding(read, Rule::MissingSync, message)
        };
        read.into_iter().chain(store).map(finding).collect()
    }
}

fn is_pipe(word: &str) -> bool {
    word.starts_with("PIPE_")
}
