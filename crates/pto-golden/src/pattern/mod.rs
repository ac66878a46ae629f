//! How an output is wrong: shapes of faults that kernels have, found in the data and named with their evidence.
//!
//! Every pattern is a statement about the data ("rows 1, 3, 5 and so on are wrong") that was checked on them, and comes
//! with what usually causes it in a PTO kernel. How often the names are right is measured on generated faults by
//! `tests/faults.rs`; the figures are in the book.

mod catalog;
mod geometry;
mod sight;
mod transform;
mod values;

use serde::Serialize;

pub use catalog::{ALL, Kind};
pub(crate) use sight::Sight;

use crate::Tensor;
use crate::compare::{Options, Rule};

/// A fault that the data look like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// A stable name.
    pub id: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// What in the data speaks for it.
    pub evidence: String,
    /// What usually causes it in a PTO kernel.
    pub cause: &'static str,
}

impl Pattern {
    fn new(kind: Kind, evidence: impl Into<String>) -> Self {
        let entry = kind.entry();
        Self { id: entry.id, title: entry.title, evidence: evidence.into(), cause: entry.cause }
    }
}

/// What else is known of a launch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clues<'a> {
    /// What the buffer held before: the output of the run before this one.
    pub previous: Option<&'a Tensor>,
    /// What the kernel was given, by name.
    pub inputs: &'a [(String, Tensor)],
    /// How the output is shared out.
    pub division: Option<Division>,
}

/// How cores share out an output: in tiles, in the order of the elements, to each core one and then to each the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Elements of a tile, at least 1.
    pub tile: usize,
    /// Cores, at least 1.
    pub cores: usize,
}

/// More elements than this are not searched for patterns.
const SEARCHED: usize = 1 << 28;

/// The patterns of an output that is wrong, the likeliest first. None where nothing is known of the elements.
pub fn find(actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options, clues: &Clues<'_>) -> Vec<Pattern> {
    if actual.dtype() != expected.dtype() || actual.shape() != expected.shape() || expected.is_empty() {
        return Vec::new();
    }
    if !is_searched(expected.len()) {
        return Vec::new();
    }
    find_in(&Sight::new(actual, expected, rule, options), clues)
}

pub(crate) fn find_in(sight: &Sight<'_>, clues: &Clues<'_>) -> Vec<Pattern> {
    /// Where this share of the elements is wrong, the others are right by chance.
    const EVERYWHERE: f64 = 0.9;
    if sight.wrong_count == 0 {
        return Vec::new();
    }
    // What explains every wrong element is worth more than where they are; a place says more than nothing.
    if let Some(whole) = values::everywhere(sight).or_else(|| clue(sight, clues)) {
        return vec![whole];
    }
    let mut patterns = Vec::new();
    match transform::find(sight) {
        // Values at other places explain more than the places.
        Some(transform) if transform::is_move(&transform) || sight.wrong_share() > EVERYWHERE => {
            patterns.push(transform)
        }
        transform => {
            patterns.extend(values::some(sight));
            let tiles = clues.division.and_then(|division| geometry::whole_tiles(sight, division));
            patterns.extend(tiles.or_else(|| geometry::find(sight)));
            patterns.extend(transform);
        }
    }
    if patterns.is_empty() {
        patterns.extend(values::scattered(sight));
    }
    patterns
}

/// Whether tensors of this size are searched.
pub(crate) fn is_searched(elements: usize) -> bool {
    elements <= SEARCHED
}

/// What the wrong elements hold was there before the launch.
fn clue(sight: &Sight<'_>, clues: &Clues<'_>) -> Option<Pattern> {
    let same = |other: &&Tensor| {
        other.dtype() == sight.expected.dtype()
            && other.len() == sight.len
            && sight.wrong_hold(|at| sight.bytes_of(other, at))
    };
    if clues.previous.filter(same).is_some() {
        let where_ = geometry::find(sight).map_or(String::new(), |place| format!(" ({})", place.evidence));
        return Some(Pattern::new(Kind::Stale, format!("the wrong elements hold what the previous run left{where_}")));
    }
    let input = clues.inputs.iter().find(|(_, input)| same(&input))?;
    Some(Pattern::new(Kind::Input, format!("the wrong elements are those of input `{}`", input.0)))
}
