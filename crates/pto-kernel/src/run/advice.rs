//! What to look at first when a case fails: what the manifest says may be wrong, and not the kernel.

use pto_platform::Core;

use super::case_result::CaseResult;
use crate::adopt::{guarded_core, used_dtype};
use crate::manifest::{ArgKind, Check, Entry, Manifest, SignatureItem};
use crate::source::{Function, Source};

/// As many guesses are named; the first mended may mend the rest.
const NAMED: usize = 4;

/// Adds to the hint of each case that failed.
pub(super) fn advise(manifest: &Manifest, cases: &mut [CaseResult]) {
    let failed = |case: &&mut CaseResult| !case.passed() && case.is_verdict();
    let advice: Vec<String> = if cases.iter().all(CaseResult::passed) {
        Vec::new() // the sources are read for those only who have to look
    } else {
        let sources = manifest.read_sources().unwrap_or_default();
        let core = other_core(manifest, &sources);
        core.into_iter().chain(other_dtypes(manifest, &sources)).chain(guesses(manifest)).collect()
    };
    for case in cases.iter_mut().filter(failed) {
        let hints: Vec<String> = case.hint.take().into_iter().chain(advice.iter().cloned()).collect();
        case.hint = (!hints.is_empty()).then(|| hints.join("; "));
    }
}

/// Guesses that nobody has gone through, the golden first.
fn guesses(manifest: &Manifest) -> Option<String> {
    let mut open: Vec<&Check> = manifest.checks.iter().filter(|check| check.decides).collect();
    open.sort_by_key(|check| (check.what != "golden", !check.what.starts_with("shape")));
    let place = |(index, check): (usize, &&Check)| {
        let file = if index == 0 { manifest.path.display().to_string() } else { String::new() };
        format!("{file}:{} ({})", check.line, check.what)
    };
    let places: Vec<String> = open.iter().take(NAMED).enumerate().map(place).collect();
    match (places.as_slice(), open.len().saturating_sub(NAMED)) {
        ([], _) => None,
        ([one], _) => Some(format!("{one} is still a guess of `kernel adopt`")),
        ([all @ .., last], 0) => Some(format!("{} and {last} are still guesses of `kernel adopt`", all.join(", "))),
        (all, more) => Some(format!("{} and {more} more are still guesses of `kernel adopt`", all.join(", "))),
    }
}

/// Code that is guarded for the one kind of core is empty for the other.
fn other_core(manifest: &Manifest, sources: &[Source]) -> Option<String> {
    let mut guards = sources.iter().filter_map(guarded_core);
    let (core, guard) = guards.next()?;
    let (said, disagrees) = (manifest.core, guards.all(|(other, _)| other == core) && core != manifest.core);
    (disagrees && said != Core::Mix && core != Core::Mix).then(|| {
        format!("`core` is \"{said}\" and the source is guarded by `{guard}`, which leaves nothing of it; set `core = \"{core}\"`", said = said.name(), core = core.name())
    })
}

/// Tensors that the source uses as another dtype than the manifest says: then every byte of them is misread.
fn other_dtypes(manifest: &Manifest, sources: &[Source]) -> Vec<String> {
    let (name, is_launcher) = match &manifest.entry {
        Entry::Launcher(name) => (name, true),
        Entry::Global(name) => (name, false),
    };
    let entry = sources.iter().find_map(|source| {
        let named = |f: &&Function| f.body.is_some() && (f.name == *name || f.qualified == *name);
        Some((source, source.functions().iter().find(named)?))
    });
    let Some((source, function)) = entry else { return Vec::new() };
    let is_passed = |item: &&SignatureItem| is_launcher || matches!(item, SignatureItem::Arg(_));
    let passed = manifest.launch.signature.iter().filter(is_passed).enumerate();
    let differs = |(index, item): (usize, &SignatureItem)| {
        let SignatureItem::Arg(arg) = item else { return None };
        let arg = &manifest.args[*arg];
        let ArgKind::Tensor(tensor) = &arg.kind else { return None };
        let used = used_dtype(source, function, index).filter(|used| *used != tensor.dtype)?;
        let (path, line) = (manifest.path.display(), arg.line);
        Some(format!("{path}:{line}: `{}` is {}, and the source uses it as {used}", arg.name, tensor.dtype))
    };
    passed.filter_map(differs).collect()
}
