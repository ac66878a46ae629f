//! `vector-mask`: the lane mask of A2/A3 is set before the first vector instruction.

use std::collections::HashMap;

use pto_platform::{Core, Target};

use super::tree::{callee, text, walk};
use super::unit::{Definition, Unit};
use super::{Finding, Place, Rule, Subject};

/// Helpers are followed this deep.
const DEEPEST: usize = 12;

/// Instructions of PTO-ISA that the vector pipe runs on every core that has one. Those that move data run elsewhere, or
/// depending on their operands.
pub(super) const VECTOR: [&str; 62] = [
    "TADD",
    "TSUB",
    "TMUL",
    "TDIV",
    "TMAX",
    "TMIN",
    "TADDS",
    "TSUBS",
    "TMULS",
    "TDIVS",
    "TMAXS",
    "TMINS",
    "TADDC",
    "TSUBC",
    "TAND",
    "TOR",
    "TXOR",
    "TNOT",
    "TSHL",
    "TSHR",
    "TANDS",
    "TORS",
    "TABS",
    "TNEG",
    "TEXP",
    "TLOG",
    "TSQRT",
    "TRSQRT",
    "TRECIP",
    "TRELU",
    "TLRELU",
    "TPRELU",
    "TREM",
    "TFMOD",
    "TCVT",
    "TSEL",
    "TSELS",
    "TCMP",
    "TCMPS",
    "TEXPANDS",
    "TROWSUM",
    "TROWMAX",
    "TROWMIN",
    "TCOLSUM",
    "TCOLMAX",
    "TCOLMIN",
    "TROWEXPAND",
    "TROWEXPANDADD",
    "TROWEXPANDSUB",
    "TROWEXPANDMUL",
    "TROWEXPANDDIV",
    "TCOLEXPAND",
    "TPARTADD",
    "TPARTMAX",
    "TPARTMIN",
    "TGATHER",
    "TGATHERB",
    "TSCATTER",
    "TSORT32",
    "TMRGSORT",
    "TTRANS",
    "TCI",
];
const SETTERS: [&str; 2] = ["set_mask_norm", "set_vector_mask"];

pub(super) fn check(unit: &Unit<'_>, subject: &Subject) -> Vec<Finding> {
    if !subject.builds(Target::A2a3) || subject.core == Some(Core::Cube) {
        return Vec::new();
    }
    unit.kernels().iter().filter_map(|kernel| kernel_without_mask(unit, kernel)).collect()
}

fn kernel_without_mask(unit: &Unit<'_>, kernel: &Definition<'_>) -> Option<Finding> {
    let mut walk = Walk { unit, stack: Vec::new(), seen: Vec::new(), done: HashMap::new() };
    let first = match walk.body(kernel) {
        End::Instruction(first) => first,
        End::Unknown | End::None => return None,
    };
    let missing: Vec<&str> = SETTERS.into_iter().filter(|setter| !walk.seen.contains(setter)).collect();
    if missing.is_empty() {
        return None;
    }
    let missing: Vec<String> = missing.into_iter().map(|setter| format!("`{setter}`")).collect();
    let message =
        format!("kernel `{}` reaches this `{}` without {}", kernel.function.name, first.name, missing.join(" and "));
    Some(first.place.finding(first.at, Rule::VectorMask, message))
}

/// What a walk ends at.
enum End<'u> {
    Instruction(Instruction<'u>),
    /// A call that may set the mask, and that nobody here can see into.
    Unknown,
    None,
}

struct Instruction<'u> {
    name: String,
    at: usize,
    place: Place<'u>,
}

/// Calls in the order of the text, helpers entered where they are called. Conditions are not asked: a mask that is set on
/// some path is one that the author knows of.
struct Walk<'u> {
    unit: &'u Unit<'u>,
    stack: Vec<String>,
    seen: Vec<&'static str>,
    /// Bodies that were walked to their end, and how deep that was: once more gives nothing new, unless it is less deep.
    done: HashMap<usize, usize>,
}

impl<'u> Walk<'u> {
    fn body(&mut self, definition: &Definition<'u>) -> End<'u> {
        let (body, depth) = (definition.body.id(), self.stack.len());
        let is_done = self.done.get(&body).is_some_and(|done| *done <= depth);
        if depth > DEEPEST || is_done || self.stack.contains(&definition.function.name) {
            return End::None;
        }
        self.stack.push(definition.function.name.clone());
        let source = definition.source.text();
        for call in walk(definition.body).filter(|node| node.kind() == "call_expression") {
            let Some(name) = callee(source, call) else { continue };
            if let Some(setter) = SETTERS.into_iter().find(|setter| *setter == name) {
                self.seen.push(setter);
            } else if VECTOR.contains(&name) {
                let place = Place::of(definition.source);
                return End::Instruction(Instruction { name: name.to_owned(), at: call.start_byte(), place });
            } else {
                match self.enter(name, text(source, call)) {
                    End::None => {}
                    end => return end,
                }
            }
        }
        self.stack.pop();
        self.done.insert(body, depth);
        End::None
    }

    fn enter(&mut self, name: &str, call: &str) -> End<'u> {
        if let Some(macro_text) = self.unit.macros.get(name) {
            let opaque = SETTERS.iter().any(|setter| macro_text.contains(setter)) || macro_text.contains("mask");
            return if opaque { End::Unknown } else { End::None };
        }
        let definitions = self.unit.definitions(name);
        if definitions.is_empty() {
            let folded = call.split('(').next().unwrap_or_default().to_ascii_lowercase();
            return if folded.contains("mask") || folded.contains("init") { End::Unknown } else { End::None };
        }
        for definition in &definitions {
            match self.body(definition) {
                End::None => {}
                end => return end,
            }
        }
        End::None
    }
}
