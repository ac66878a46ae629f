//! From `[cases]` to the list of cases.

use std::collections::BTreeMap;

use pto_platform::Target;

use super::tile::tile;
use super::{Case, Cores, Edge, Origin};
use crate::manifest::Manifest;

/// The cases of a kernel on one target: the listed ones in their order, then the edges of each dim in `edges`. Sizes that
/// came before are not repeated.
///
/// While one dim is at its edge, every other dynamic dim has its value of the first listed case, or, with none listed,
/// two tiles. A kernel without dynamic dims has exactly one case.
pub fn derive(manifest: &Manifest, target: Target, cores: Cores, seed: u64) -> Vec<Case> {
    let listed =
        manifest.cases.list.iter().filter(|case| case.targets.as_ref().is_none_or(|only| only.contains(&target)));
    let mut cases: Vec<Case> =
        listed.map(|case| Case { dims: case.dims.clone(), origin: Origin::Listed { line: case.line }, seed }).collect();
    for dim in &manifest.cases.edges {
        cases.extend(edges(manifest, dim, cores, seed));
    }
    if cases.is_empty() && manifest.dynamic_dims().next().is_none() {
        cases.push(Case { dims: BTreeMap::new(), origin: Origin::Fixed, seed });
    }
    without_repetition(cases)
}

fn edges(manifest: &Manifest, dim: &str, cores: Cores, seed: u64) -> Vec<Case> {
    let Some(tile) = tile(manifest, dim) else { return Vec::new() };
    let at = |edge: Edge| {
        let mut dims = usual_sizes(manifest);
        dims.insert(dim.to_owned(), edge.length(tile, cores.of(manifest.core))?);
        Some(Case { dims, origin: Origin::Edge { dim: dim.to_owned(), edge }, seed })
    };
    Edge::ALL.into_iter().filter_map(at).collect()
}

fn usual_sizes(manifest: &Manifest) -> BTreeMap<String, i64> {
    match manifest.cases.list.first() {
        Some(first) => first.dims.clone(),
        None => {
            let two_tiles = |dim: &str| Some((dim.to_owned(), tile(manifest, dim)?.checked_mul(2)?));
            manifest.dynamic_dims().filter_map(two_tiles).collect()
        }
    }
}

fn without_repetition(cases: Vec<Case>) -> Vec<Case> {
    let mut kept: Vec<Case> = Vec::with_capacity(cases.len());
    for case in cases {
        if !kept.iter().any(|other| other.dims == case.dims) {
            kept.push(case);
        }
    }
    kept
}
