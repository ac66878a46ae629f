//! What to look at first when a case fails: what the manifest says may be wrong, and not the kernel.

mod flags;
mod names;
mod sizes;

use pto_platform::{Core, Soc};

use super::case_result::CaseResult;
use crate::adopt::{guarded_core, used_dtype};
use crate::manifest::{ArgKind, Check, Entry, Manifest, SignatureItem};
use crate::source::{Function, Source};

/// As many guesses are named; the first mended may mend the rest.
const NAMED: usize = 4;

/// What to look at first, for all cases that failed; and what single cases are told besides.
pub(super) fn advise(manifest: &Manifest, soc: &Soc, cases: &mut [CaseResult]) -> Vec<String> {
    sizes::crowded(manifest, soc, cases);
    let flags = cases.iter().any(|case| !case.notes.is_empty());
    let failed = cases.iter().any(|case| !case.passed() && case.is_verdict());
    if !failed && !flags {
        return Vec::new(); // the sources are read for those only who have to look
    }
    let sources = manifest.read_sources().unwrap_or_default();
    flags::point(manifest, &sources, cases);
    if !failed {
        return Vec::new();
    }
    let called = Called::find(manifest, &sources);
    let mut advice: Vec<String> = other_core(manifest, &sources).into_iter().collect();
    if let Some(called) = &called {
        advice.extend(names::swapped(manifest, called));
        advice.extend(other_dtypes(manifest, called));
    }
    advice.extend(sizes::tails(manifest, cases));
    advice.extend(guesses(manifest));
    advice
}

/// What the manifest calls, as the source has it.
struct Called<'a> {
    source: &'a Source,
    function: &'a Function,
    /// What is passed for its parameters, one by one.
    items: Vec<SignatureItem>,
}

impl<'a> Called<'a> {
    fn find(manifest: &Manifest, sources: &'a [Source]) -> Option<Self> {
        let (name, is_launcher) = match &manifest.entry {
            Entry::Launcher(name) => (name, true),
            Entry::Global(name) => (name, false),
        };
        let named = |f: &&Function| f.body.is_some() && (f.name == *name || f.qualified == *name);
        let (source, function) =
            sources.iter().find_map(|source| Some((source, source.functions().iter().find(named)?)))?;
        let is_passed = |item: &&SignatureItem| is_launcher || matches!(item, SignatureItem::Arg(_));
        let items = manifest.launch.signature.iter().filter(is_passed).cloned().collect();
        Some(Self { source, function, items })
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
fn other_dtypes(manifest: &Manifest, called: &Called<'_>) -> Vec<String> {
    let differs = |(index, item): (usize, &SignatureItem)| {
        let SignatureItem::Arg(arg) = item else { return None };
        let arg = &manifest.args[*arg];
        let ArgKind::Tensor(tensor) = &arg.kind else { return None };
        let used = used_dtype(called.source, called.function, index).filter(|used| *used != tensor.dtype)?;
        let (path, line) = (manifest.path.display(), arg.line);
        Some(format!("{path}:{line}: `{}` is {}, and the source uses it as {used}", arg.name, tensor.dtype))
    };
    called.items.iter().enumerate().filter_map(differs).collect()
}
