//! When a kernel is done: compiled, launched, compared and recorded for each target, at the sizes where kernels break.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::{RanOn, Soc, Target};
use serde::Serialize;

use super::book::Entry;
use super::coverage::{self, Coverage, Tested};
use super::fresh::Freshness;
use super::make::place;
use super::model::Record;
use crate::cases::{Cores, Edge};
use crate::manifest::{Dim, Manifest};

/// On a device a missing flag or barrier does not show each time.
const REPEATS_ON_SILICON: u32 = 5;
/// Where the dims and the number of blocks of a delivered kernel are stated.
pub const VERIFICATION: &str = "VERIFICATION.md";
const STATED_IN: [&str; 2] = ["README.md", VERIFICATION];

/// What a kernel still lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoneReport {
    /// The kernel.
    pub name: String,
    /// Its manifest.
    pub path: PathBuf,
    /// Whether nothing is missing. What is blocked counts as done once the blocker is recorded.
    pub done: bool,
    /// Everything that belongs to being done.
    pub items: Vec<Item>,
}

/// One part of being done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// For example `compared-cpu` or `two-tiles`.
    pub id: String,
    /// Whether it is.
    pub status: ItemStatus,
    /// What says so, or what is wrong.
    pub evidence: String,
    /// What to type for it, where it is missing.
    pub command: Option<String>,
}

/// How a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// There is evidence.
    Done,
    /// This machine cannot do it, and the record says why.
    Blocked,
    /// There is no evidence.
    Missing,
}

/// Holds a kernel against the definition of done. `entries` are the records of its workspace.
pub fn definition_of_done(cx: &Context, manifest: &Manifest, entries: &[Entry]) -> DoneReport {
    let path = place(cx, &manifest.path);
    let own: Vec<&Record> =
        entries.iter().map(|entry| &entry.record).filter(|record| record.manifest == path).collect();
    let mut items: Vec<Item> = Vec::new();
    for target in &manifest.targets {
        items.extend(of_target(
            manifest,
            *target,
            own.iter().copied().find(|it| it.is_whole() && it.target == *target),
        ));
    }
    items.extend(edges(manifest, &own));
    items.push(tolerances(manifest));
    items.push(stated(manifest));
    let done = items.iter().all(|item| item.status != ItemStatus::Missing);
    DoneReport { name: manifest.name.clone(), path: manifest.path.clone(), done, items }
}

fn item(id: impl Into<String>, status: ItemStatus, evidence: impl Into<String>, command: Option<String>) -> Item {
    let command = command.filter(|_| status == ItemStatus::Missing);
    Item { id: id.into(), status, evidence: evidence.into(), command }
}

/// The kernel as it can be given on a command line.
fn named(manifest: &Manifest) -> String {
    let dir = manifest.dir.as_os_str();
    let path: &Path = if dir.is_empty() { &manifest.path } else { &manifest.dir };
    pto_process::shell_word(&path.to_string_lossy())
}

const STEPS: [&str; 5] = ["compiled", "launched", "compared", "repeats", "fresh"];

fn of_target(manifest: &Manifest, target: Target, record: Option<&Record>) -> Vec<Item> {
    let command = Some(format!("cargo xtask kernel test {} --target {target}", named(manifest)));
    let all = |status: ItemStatus, evidence: &str| {
        let one = |step: &&str| item(format!("{step}-{target}"), status, evidence, command.clone());
        STEPS.iter().map(one).collect::<Vec<_>>()
    };
    let Some(record) = record else { return all(ItemStatus::Missing, "there is no record of all cases") };
    let built = record.digests.artifact.is_some();
    if let Some(blocker) = record.blockers.first().filter(|_| !built) {
        return all(ItemStatus::Blocked, blocker);
    }
    let blocked = record.blockers.first();
    let or_blocked = |done: bool| match (done, blocked) {
        (true, _) => ItemStatus::Done,
        (false, Some(_)) => ItemStatus::Blocked,
        (false, None) => ItemStatus::Missing,
    };
    let said = |evidence: String| blocked.cloned().filter(|_| record.mode.is_none()).unwrap_or(evidence);
    let passed = record.cases.iter().filter(|case| case.status == "passed").count();
    let wanted = if record.mode == Some(RanOn::Silicon) { REPEATS_ON_SILICON } else { 1 };
    let verdict = if record.passed { String::new() } else { format!(": {}", record.verdict()) };
    let freshness = Freshness::of(record);
    let judged = [
        (built, record.versions.compiler.clone().unwrap_or_else(|| record.verdict().to_owned())),
        (record.mode.is_some(), record.ran_on()),
        (record.passed, format!("{passed} of {} cases passed{verdict}", record.cases.len())),
        (record.repeats >= wanted, format!("{} of {wanted}", record.repeats)),
        (freshness.fresh, if freshness.fresh { record.written_at.clone() } else { freshness.changes.join(", ") }),
    ];
    let steps = STEPS.into_iter().zip(judged);
    steps
        .map(|(step, (done, why))| item(format!("{step}-{target}"), or_blocked(done), said(why), command.clone()))
        .collect()
}

/// The sizes at which kernels break, over all cases that passed on any target.
fn edges(manifest: &Manifest, records: &[&Record]) -> Vec<Item> {
    let mut tested = Vec::new();
    for record in records.iter().filter(|record| record.verb == "test") {
        let Some(soc) = record.soc.as_deref().and_then(|name| Soc::by_name(name).ok()) else { continue };
        let passed = record.cases.iter().filter(|case| case.status == "passed");
        tested.extend(passed.map(|case| Tested { case: &case.case, dims: &case.dims, cores: Cores::from(soc) }));
    }
    let wanted = [
        ("one-tile", Edge::OneTile),
        ("two-tiles", Edge::TwoTiles),
        ("tail", Edge::Tail),
        ("more-work-than-cores", Edge::MoreThanCores),
    ];
    let judge = |(id, edge): (&str, Edge)| match coverage::of(manifest, edge, &tested) {
        Coverage::Tested(cases) => item(id, ItemStatus::Done, cases.join(", "), None),
        Coverage::Meaningless(why) => item(id, ItemStatus::Done, why, None),
        Coverage::Untested(dims) => {
            let lacking = dims.iter().filter(|dim| !manifest.cases.edges.contains(dim)).cloned().collect::<Vec<_>>();
            let evidence = match lacking.as_slice() {
                [] => format!("no case that passed has it for `{}`", dims.join("`, `")),
                dims => format!(
                    "add `{}` to `edges` in {}, with a static dim that names its tile",
                    dims.join("`, `"),
                    manifest.path.display()
                ),
            };
            item(id, ItemStatus::Missing, evidence, Some(format!("cargo xtask kernel test {}", named(manifest))))
        }
    };
    wanted.into_iter().map(judge).collect()
}

fn tolerances(manifest: &Manifest) -> Item {
    let unreasoned = manifest.outputs().filter(|(arg, tensor)| {
        let rule = manifest.rule_of(&arg.name, tensor.dtype);
        let given = manifest.tolerance.get(&arg.name);
        given.is_some_and(|given| given.spec.lacks_reason(&rule, tensor.dtype).is_some())
    });
    let names: Vec<&str> = unreasoned.map(|(arg, _)| arg.name.as_str()).collect();
    if names.is_empty() {
        let evidence = match manifest.tolerance.len() {
            0 => "those of the dtypes".to_owned(),
            count => format!("{count} exceptions, each with its reason or tighter"),
        };
        return item("tolerances", ItemStatus::Done, evidence, None);
    }
    let evidence = format!(
        "`{}` is looser than its dtype's without a `reason` in {}",
        names.join("`, `"),
        manifest.path.display()
    );
    item("tolerances", ItemStatus::Missing, evidence, Some(format!("cargo xtask kernel test {}", named(manifest))))
}

/// Which dims are dynamic and which are compiled in, and how many blocks are launched, has to be stated for its users.
fn stated(manifest: &Manifest) -> Item {
    let mut words: Vec<&str> = manifest.dims.keys().map(String::as_str).collect();
    words.push("block_dim");
    let has_dynamic = manifest.dims.values().any(|dim| *dim == Dim::Dynamic);
    let has_static = manifest.dims.values().any(|dim| matches!(dim, Dim::Static(_)));
    let kinds = [("dynamic", has_dynamic), ("static", has_static)];
    words.extend(kinds.into_iter().filter(|(_, has)| *has).map(|(kind, _)| kind));
    let mut best: Option<Vec<&str>> = None;
    for file in STATED_IN {
        let Ok(text) = std::fs::read_to_string(manifest.dir.join(file)) else { continue };
        let text = text.to_lowercase();
        let is_word = |c: char| !(c.is_alphanumeric() || c == '_');
        let lacking: Vec<&str> =
            words.iter().copied().filter(|word| !text.split(is_word).any(|part| part == word.to_lowercase())).collect();
        if lacking.is_empty() {
            return item("stated", ItemStatus::Done, format!("in `{file}`"), None);
        }
        best = Some(best.map_or(lacking.clone(), |best| if lacking.len() < best.len() { lacking } else { best }));
    }
    let lacking = best.unwrap_or(words);
    let evidence = format!(
        "`README.md` or `{VERIFICATION}` beside the kernel has to say which dims are dynamic and which static, and what \
         `block_dim` is; the words that are missing: `{}`",
        lacking.join("`, `")
    );
    item(
        "stated",
        ItemStatus::Missing,
        evidence,
        Some(format!("cargo xtask kernel log {} --markdown", named(manifest))),
    )
}
