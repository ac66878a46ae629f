//! Works there, not here: what differs between two snapshots, the most likely cause first.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::check::checks;
use crate::finding::Status;
use crate::snapshot::Snapshot;

/// Groups of facts, from what decides most to what decides least, each with the reason.
const LIKELIHOOD: [(&str, &str); 14] = [
    ("driver", "the driver checks CANN's device-side package when the AICPU is first used"),
    ("cann", "headers, compiler and runtime come from CANN"),
    ("acl", "the library that drives the device, and the device itself"),
    ("npu", "other NPUs, or others in use"),
    ("host.machine", "another processor takes other binaries"),
    ("ptoas", "the assembler generates the kernel"),
    ("pins", "the checkout asks for other tools"),
    ("python", "modules come from elsewhere, or extensions do not load"),
    ("compiler", "another compiler compiles other code"),
    ("host.glibcxx", "libraries built elsewhere ask for newer symbols"),
    ("host.glibc", "programs built elsewhere ask for newer symbols"),
    ("variable", "tools read it"),
    ("docker", "containers are started differently"),
    ("host", "rarely the cause"),
];

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The fact (`driver.version`) or the check (`check.driver-cann-pair`).
    pub name: String,
    /// What the first snapshot has; `None` where it has nothing of this name.
    pub left: Option<String>,
    /// What the second has.
    pub right: Option<String>,
    /// Why it may matter.
    pub why: String,
}

/// Everything that differs: first the checks that fail on one side only, in the order in which a cause comes before its
/// effects; then facts, by what decides most; then the other checks.
pub fn diff(left: &Snapshot, right: &Snapshot) -> Vec<Difference> {
    let mut ranked: Vec<(usize, Difference)> = check_differences(left, right);
    ranked.extend(fact_differences(left, right));
    // Stable: within one rank the order of the snapshots stays.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, difference)| difference).collect()
}

const FACTS: usize = 1_000;
const OTHER_CHECKS: usize = 2_000;

fn check_differences(left: &Snapshot, right: &Snapshot) -> Vec<(usize, Difference)> {
    let of = |snapshot: &Snapshot, id: &str| {
        let check = snapshot.checks.iter().find(|check| check.id == id)?;
        Some((check.status, format!("{}: {}", check.status, check.evidence)))
    };
    let ids = left.checks.iter().chain(&right.checks).map(|check| check.id.as_str());
    let ids: BTreeSet<&str> = ids.collect();
    let order = |id: &str| checks().position(|check| check.id == id).unwrap_or(FACTS - 1);
    let mut differences = Vec::new();
    for id in ids {
        let (ours, theirs) = (of(left, id), of(right, id));
        let status = |side: &Option<(Status, String)>| side.as_ref().map(|(status, _)| *status);
        if status(&ours) == status(&theirs) {
            // The same verdict on other evidence is told by the facts.
            continue;
        }
        let fails = [status(&ours), status(&theirs)].contains(&Some(Status::Fail));
        let (rank, why) = if fails {
            (order(id), "this check fails on one side only")
        } else {
            (OTHER_CHECKS + order(id), "this check ended differently")
        };
        differences.push((
            rank,
            Difference {
                name: format!("check.{id}"),
                left: ours.map(|(_, text)| text),
                right: theirs.map(|(_, text)| text),
                why: why.to_owned(),
            },
        ));
    }
    differences
}

fn fact_differences(left: &Snapshot, right: &Snapshot) -> Vec<(usize, Difference)> {
    let names: BTreeSet<&String> = left.facts.keys().chain(right.facts.keys()).collect();
    let differs = |name: &&&String| left.facts.get(**name) != right.facts.get(**name);
    names
        .iter()
        .filter(differs)
        .map(|name| {
            let (rank, why) = likelihood(name);
            let side = |snapshot: &Snapshot| snapshot.facts.get(*name).cloned();
            let difference =
                Difference { name: (*name).clone(), left: side(left), right: side(right), why: why.to_owned() };
            (FACTS + rank, difference)
        })
        .collect()
}

fn likelihood(name: &str) -> (usize, &'static str) {
    let is_of = |group: &str| name.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let found = LIKELIHOOD.iter().enumerate().find(|(_, (group, _))| is_of(group));
    found.map_or((LIKELIHOOD.len(), "seldom the cause"), |(rank, (_, why))| (rank, why))
}
