//! How often each flag has been set more than waited for, as far as that can be told.

use std::collections::BTreeMap;

use super::key::Key;

/// Where in which file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site<'u> {
    pub(super) place: super::super::Place<'u>,
    pub(super) at: usize,
}

/// The balance of one flag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Balance<'u> {
    /// Sets less waits.
    pub(super) count: i64,
    /// The same for each round of loops whose number of rounds is not known, by the loops' heads.
    pub(super) per_round: BTreeMap<String, i64>,
    /// What cannot be told: branches differ in it.
    pub(super) unknown: bool,
    /// The last set and the last wait.
    pub(super) last_set: Option<Site<'u>>,
    pub(super) last_wait: Option<Site<'u>>,
    /// The first wait that nothing was set for.
    pub(super) starved: Option<Site<'u>>,
}

impl Balance<'_> {
    pub(super) fn is_zero(&self) -> bool {
        self.count == 0 && self.per_round.is_empty()
    }
}

/// All flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State<'u> {
    pub(super) flags: BTreeMap<Key, Balance<'u>>,
}

impl<'u> State<'u> {
    pub(super) fn set(&mut self, key: Key, site: Site<'u>) {
        let flag = self.flags.entry(key).or_default();
        flag.count += 1;
        flag.last_set = Some(site);
    }

    pub(super) fn wait(&mut self, key: Key, site: Site<'u>) {
        let flag = self.flags.entry(key).or_default();
        flag.count -= 1;
        flag.last_wait = Some(site);
        if flag.count < 0 && flag.per_round.is_empty() && flag.starved.is_none() {
            flag.starved = Some(site);
        }
    }

    /// Two ways to the same place: what they agree in stays.
    pub(super) fn join(&mut self, other: Self) {
        for (key, theirs) in other.flags {
            let ours = self.flags.entry(key).or_default();
            let agree = (ours.count, &ours.per_round) == (theirs.count, &theirs.per_round);
            ours.unknown |= theirs.unknown || !agree;
            ours.starved = ours.starved.or(theirs.starved);
            ours.last_set = ours.last_set.or(theirs.last_set);
            ours.last_wait = ours.last_wait.or(theirs.last_wait);
        }
    }

    /// The same for a way that does not exist on the other side: flags that only one side knows differ, if they count.
    pub(super) fn joined(mut self, other: Self) -> Self {
        for (key, ours) in &mut self.flags {
            ours.unknown |= !other.flags.contains_key(key) && !ours.is_zero();
        }
        self.join(other);
        self
    }

    /// After a loop whose body turned `before` into `self` once: as many rounds as `rounds` says, or as its head decides.
    pub(super) fn repeated(mut self, before: &Self, rounds: Rounds<'_>) -> Self {
        for (key, flag) in &mut self.flags {
            let earlier = before.flags.get(key).cloned().unwrap_or_default();
            let change = flag.count - earlier.count;
            if change == 0 {
                continue;
            }
            match rounds {
                Rounds::Known(rounds) => flag.count = earlier.count + change * rounds,
                Rounds::Unknown(head) => {
                    flag.count = earlier.count;
                    let per_round = flag.per_round.entry(head.to_owned()).or_default();
                    *per_round += change;
                    if *per_round == 0 {
                        flag.per_round.remove(head);
                    }
                    // A wait in a loop for what another loop has set: how often that was is not known here.
                    flag.starved = earlier.starved;
                }
            }
        }
        self
    }

    pub(super) fn forget(&mut self, key: Key) {
        self.flags.entry(key).or_default().unknown = true;
    }
}

/// How often a loop's body runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rounds<'a> {
    Known(i64),
    /// Loops with the same head run as often as each other.
    Unknown(&'a str),
}
