//! What a manifest shows by itself: `block-dim-grows`, `hardware-literal` in `block_dim`, and `loose-tolerance`.

use pto_platform::{Core, Soc};

use super::literal::core_counts;
use super::{Finding, Place, Rule};
use crate::manifest::{Dim, Manifest};
use crate::source::words;

/// Sizes of data, larger and larger; some tile has fewer elements than the last of them.
const LENGTHS: [i64; 4] = [1 << 16, 1 << 20, 1 << 24, 1 << 28];

pub(super) fn check(manifest: &Manifest, text: &str) -> Vec<Finding> {
    let place = Place { path: &manifest.path, text };
    let mut findings: Vec<Finding> = grows(manifest, place).into_iter().collect();
    findings.extend(fixed_cores(manifest, place));
    findings.extend(loose_tolerances(manifest, place));
    findings
}

/// However large the dynamic dims are, there are no more blocks than the largest SoC has cores.
fn grows(manifest: &Manifest, place: Place<'_>) -> Option<Finding> {
    let soc = Soc::all().iter().filter(|soc| soc.target().is_some()).max_by_key(|soc| soc.vector_cores)?;
    let blocks = |length: i64| {
        let value = |name: &str| match (name, manifest.dims.get(name)) {
            ("vector_cores", _) => Some(soc.vector_cores.into()),
            ("cube_cores", _) => Some(soc.cube_cores.into()),
            (_, Some(Dim::Static(length))) => Some(*length),
            (_, Some(Dim::Dynamic)) => Some(length),
            (_, None) => None,
        };
        manifest.launch.block_dim.eval_dim(&value).ok()
    };
    let smallest = blocks(1)?;
    let beyond = |blocks: &i64| *blocks > i64::from(soc.vector_cores) && *blocks > smallest;
    LENGTHS.into_iter().filter_map(blocks).find(beyond)?;
    let expression = manifest.launch.block_dim.source();
    let message = format!("`{expression}` has no upper bound: large sizes give more blocks than any SoC has cores");
    Some(place.finding(position(place.text, "block_dim"), Rule::BlockDimGrows, message))
}

fn fixed_cores(manifest: &Manifest, place: Place<'_>) -> Option<Finding> {
    let counts = core_counts(&manifest.targets);
    let expression = manifest.launch.block_dim.source();
    let count = words(expression).find(|word| word.parse().is_ok_and(|count| counts.contains(&count)))?;
    let variable = if manifest.core == Core::Vec { "vector_cores" } else { "cube_cores" };
    let message = format!("`block_dim` counts on {count} cores; `{variable}` is what there is");
    Some(place.finding(position(place.text, "block_dim"), Rule::HardwareLiteral, message))
}

fn loose_tolerances(manifest: &Manifest, place: Place<'_>) -> Vec<Finding> {
    let loose = manifest.outputs().filter_map(|(arg, tensor)| {
        let given = &manifest.tolerance.get(&arg.name)?.spec;
        let rule = given.rule(tensor.dtype).ok()?;
        given.lacks_reason(&rule, tensor.dtype)?;
        let section = position(place.text, "[tolerance");
        let at = section + position(&place.text[section..], &arg.name);
        let message = format!("`{}` is judged by {rule}, looser than the tolerance of `{}`", arg.name, tensor.dtype);
        Some(place.finding(at, Rule::LooseTolerance, message))
    });
    loose.collect()
}

/// Where a key stands, outside of comments.
fn position(text: &str, key: &str) -> usize {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        if let Some(at) = code.find(key) {
            return start + at;
        }
        start += line.len();
    }
    0
}
