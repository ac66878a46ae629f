//! What the sizes of a case say: more blocks than cores, and cases that fail because a tile is not full.

use pto_launch::Note;
use pto_platform::Soc;

use crate::cases::{Cores, tile};
use crate::manifest::Manifest;
use crate::run::case_result::CaseResult;
use crate::run::place::line_of;

/// Notes the case with the most blocks, if there are not so many cores, and says it of those that failed.
pub(super) fn crowded(manifest: &Manifest, soc: &Soc, cases: &mut [CaseResult]) {
    let cores = Cores::from(soc).of(manifest.core);
    let what = |blocks: u32| format!("{blocks} blocks, and {} has {cores} {} cores", soc.name, kind(manifest));
    let line = line_of(manifest, "launch", "block_dim").unwrap_or(0);
    for case in cases.iter_mut().filter(|case| case.block_dim > cores && !case.passed() && case.is_verdict()) {
        let place = format!("{}:{line}: `block_dim`", manifest.path.display());
        let text = format!("{place} gives {}: write `min({}, ...)`", what(case.block_dim), variable(manifest));
        case.hint = Some(case.hint.take().map_or(text.clone(), |hint| format!("{hint}; {text}")));
    }
    let most = cases.iter_mut().max_by_key(|case| case.block_dim).filter(|case| case.block_dim > cores);
    if let Some(case) = most {
        case.notes.push(Note {
            text: format!(
                "{} in case {}: a device runs the rest after the first, so that cores which wait for each other hang",
                what(case.block_dim),
                case.case
            ),
            file: manifest.path.display().to_string(),
            line: u32::try_from(line).unwrap_or(0),
            count: 1,
        });
    }
}

fn kind(manifest: &Manifest) -> &'static str {
    if variable(manifest) == "vector_cores" { "vector" } else { "cube" }
}

fn variable(manifest: &Manifest) -> &'static str {
    match manifest.core {
        pto_platform::Core::Vec => "vector_cores",
        pto_platform::Core::Cube | pto_platform::Core::Mix => "cube_cores",
    }
}

/// That the sizes which fail are those with a tile that is not full, and no others.
pub(super) fn tails(manifest: &Manifest, cases: &[CaseResult]) -> Vec<String> {
    let told = |dim: &str| {
        let tile = tile(manifest, dim).filter(|tile| *tile > 1)?;
        let is_full = |case: &&CaseResult| case.dims.get(dim).is_some_and(|length| length % tile == 0);
        let (full, rest): (Vec<&CaseResult>, Vec<&CaseResult>) =
            cases.iter().filter(|case| case.is_verdict()).partition(is_full);
        let failed = |case: &&CaseResult| !case.passed();
        let told = !full.is_empty() && !full.iter().any(failed) && rest.len() > 1 && rest.iter().all(failed);
        told.then(|| format!("every case whose `{dim}` is no multiple of the tile, {tile}, fails, and no other: the tail is not handled"))
    };
    manifest.dynamic_dims().filter_map(told).collect()
}
