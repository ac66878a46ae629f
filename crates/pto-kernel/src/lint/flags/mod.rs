//! `unpaired-flag`: every `set_flag` has its `wait_flag`, on every path through a kernel.
//!
//! A kernel is run on paper, once for each way through its conditions. Conditions with the same text go the same way; one that
//! changes from round to round of a loop goes both ways, and what differs then is not judged. Neither is a flag whose pipe or
//! event is a variable, nor one that such a flag can be, nor a kernel that calls what nobody here can see.

mod calls;
mod condition;
mod key;
mod loops;
mod run;
mod state;
mod switch;

use std::collections::{BTreeMap, BTreeSet};

use super::unit::{Definition, Unit};
use super::{Finding, Rule};
use key::Key;
use run::{Choice, Outcome, Run};
use state::{Balance, Site, State};

/// More ways than this through one kernel are not all tried; the kernel is not judged then.
const MOST_WAYS: usize = 128;

pub(super) fn check(unit: &Unit<'_>) -> Vec<Finding> {
    unit.kernels().into_iter().flat_map(|kernel| kernel_findings(unit, kernel)).collect()
}

fn kernel_findings(unit: &Unit<'_>, kernel: Definition<'_>) -> Vec<Finding> {
    let Some(ways) = ways(unit, kernel) else { return Vec::new() };
    let verdicts: Vec<BTreeMap<Key, Fault<'_>>> = ways.iter().map(faults).collect();
    let keys: BTreeSet<&Key> = verdicts.iter().flat_map(BTreeMap::keys).collect();
    let findings = keys.into_iter().filter_map(|key| {
        let bad: Vec<bool> = verdicts.iter().map(|faults| faults.contains_key(key)).collect();
        let fault = verdicts.iter().find_map(|faults| faults.get(key))?;
        let when = deciding_choice(&ways, &bad)?;
        let kernel = &kernel.function.name;
        let message = format!("in kernel `{kernel}`, {} {key}{when}", fault.kind);
        Some(fault.site.place.finding(fault.site.at, Rule::UnpairedFlag, message))
    });
    findings.collect()
}

/// Every way through a kernel. `None` where there are too many, or where something is not understood.
fn ways<'u>(unit: &'u Unit<'u>, kernel: Definition<'u>) -> Option<Vec<Outcome<'u>>> {
    let mut ways = Vec::new();
    let mut open: Vec<Vec<Choice>> = vec![Vec::new()];
    while let Some(choices) = open.pop() {
        let given = choices.len();
        let way = Run::of(unit, kernel, choices).ok()?;
        // Each condition that was met for the first time is taken the other way as well.
        for at in given..way.choices.len() {
            let mut other = way.choices[..=at].to_vec();
            other[at].1 = !other[at].1;
            open.push(other);
        }
        ways.push(way);
        if ways.len() + open.len() > MOST_WAYS {
            return None;
        }
    }
    Some(ways)
}

/// What is wrong with a flag on one way.
struct Fault<'u> {
    kind: &'static str,
    site: Site<'u>,
}

fn faults<'u>(way: &Outcome<'u>) -> BTreeMap<Key, Fault<'u>> {
    let mut faults = BTreeMap::new();
    for end in &way.ends {
        for (key, flag) in end.flags.iter().filter(|(key, flag)| key.is_literal() && !flag.unknown) {
            if let Some(fault) = fault(end, key, flag) {
                faults.entry(key.clone()).or_insert(fault);
            }
        }
    }
    faults
}

fn fault<'u>(end: &State<'u>, key: &Key, flag: &Balance<'u>) -> Option<Fault<'u>> {
    let related = || end.flags.iter().filter(|(other, _)| !other.is_literal() && other.may_equal(key));
    if let Some(site) = flag.starved
        && related().next().is_none()
    {
        return Some(Fault { kind: "this waits for a flag that nobody has set by then:", site });
    }
    if related().any(|(_, flag)| flag.unknown || !flag.is_zero()) {
        return None;
    }
    let balance = match flag.per_round.values().copied().collect::<Vec<_>>()[..] {
        [] => flag.count,
        // Some loop leaves one more in each round, and nothing after it makes up for that.
        [per_round] => per_round,
        _ => return None,
    };
    match balance {
        0 => None,
        1.. => Some(Fault { kind: "nobody waits for this flag:", site: flag.last_set? }),
        _ => Some(Fault { kind: "this waits once more than the flag is set:", site: flag.last_wait? }),
    }
}

/// What makes a flag unpaired: nothing, so that it always is, or one condition, with which every way is bad. Where it takes
/// two, the ways that are bad may be ones that never happen.
fn deciding_choice(ways: &[Outcome<'_>], bad: &[bool]) -> Option<String> {
    if bad.iter().all(|bad| *bad) {
        return Some(String::new());
    }
    let bad_ways = ways.iter().zip(bad).filter(|(_, bad)| **bad).map(|(way, _)| way);
    let good: Vec<&Outcome<'_>> = ways.iter().zip(bad).filter(|(_, bad)| !**bad).map(|(way, _)| way).collect();
    let suffices = |choice: &&Choice| good.iter().all(|way| !way.choices.contains(choice));
    let (condition, holds) = bad_ways.flat_map(|way| &way.choices).find(suffices)?;
    let condition = condition.split(" (call ").next().unwrap_or(condition);
    Some(format!(", when `{condition}` is {holds}"))
}
