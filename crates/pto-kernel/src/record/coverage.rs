//! Which edges of a kernel's sizes were really tested: by the sizes, wherever a case comes from.

use std::collections::BTreeMap;

use crate::cases::{Cores, Edge, tile};
use crate::manifest::Manifest;

/// A case that passed, and how many cores its launch could use.
pub(super) struct Tested<'a> {
    pub(super) case: &'a str,
    pub(super) dims: &'a BTreeMap<String, i64>,
    pub(super) cores: Cores,
}

/// What is known of an edge.
pub(super) enum Coverage {
    /// These cases have it, the first for each dim.
    Tested(Vec<String>),
    /// No case has it for these dims.
    Untested(Vec<String>),
    /// It says nothing about this kernel, and why.
    Meaningless(&'static str),
}

/// Whether the edge was tested for each dim whose edges matter: those of `[cases] edges`, or with none named, every
/// dynamic dim with a tile.
pub(super) fn of(manifest: &Manifest, edge: Edge, tested: &[Tested<'_>]) -> Coverage {
    let tiles = tiles(manifest);
    if manifest.dynamic_dims().next().is_none() {
        return Coverage::Meaningless("all dims are static: each shape is a kernel of its own");
    }
    if tiles.is_empty() {
        return Coverage::Untested(manifest.dynamic_dims().map(str::to_owned).collect());
    }
    if edge == Edge::MoreThanCores {
        return more_than_cores(manifest, &tiles, tested);
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (dim, tile) in tiles {
        if edge == Edge::Tail && tile == 1 {
            continue; // a tile of one element has no tail
        }
        let has = |length: i64| match edge {
            Edge::OneTile => length == tile,
            Edge::TwoTiles => Some(length) == tile.checked_mul(2),
            Edge::OneElement => length == 1,
            _ => length % tile != 0,
        };
        match tested.iter().find(|case| case.dims.get(&dim).is_some_and(|length| has(*length))) {
            Some(case) => found.push(case.case.to_owned()),
            None => missing.push(dim),
        }
    }
    match (found.is_empty(), missing.is_empty()) {
        (true, true) => Coverage::Meaningless("tiles of one element have no tail"),
        (_, false) => Coverage::Untested(missing),
        (false, true) => Coverage::Tested(found),
    }
}

/// One case is enough: work is spread over cores from all dims together.
fn more_than_cores(manifest: &Manifest, tiles: &BTreeMap<String, i64>, tested: &[Tested<'_>]) -> Coverage {
    let work = |case: &Tested<'_>| {
        let parts = tiles.iter().filter_map(|(dim, tile)| Some(ceil_div(*case.dims.get(dim)?, *tile)));
        parts.fold(1_i64, i64::saturating_mul)
    };
    match tested.iter().find(|case| work(case) > i64::from(case.cores.of(manifest.core))) {
        Some(case) => Coverage::Tested(vec![case.case.to_owned()]),
        None => Coverage::Untested(tiles.keys().cloned().collect()),
    }
}

fn tiles(manifest: &Manifest) -> BTreeMap<String, i64> {
    let edges = &manifest.cases.edges;
    let matters = |dim: &&str| edges.is_empty() || edges.iter().any(|edge| edge == dim);
    manifest.dynamic_dims().filter(matters).filter_map(|dim| Some((dim.to_owned(), tile(manifest, dim)?))).collect()
}

/// Of a length of at least 1.
fn ceil_div(length: i64, tile: i64) -> i64 {
    (length - 1) / tile + 1
}
