//! What was found so far, bounded: a million lines of one kind are one slot with a count.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::evidence::{Evidence, Position};
use super::fields::Fields;
use super::matcher::ClueId;
use super::rule::Rule;
use super::value::Lifted;

/// Lines kept of each kind.
const EVIDENCE: usize = 3;
/// Kinds kept of each log. There are fewer rules; codes and chips multiply them.
const SLOTS: usize = 256;
/// Pieces of advice kept of each log.
const LIFTED: usize = 32;

/// What makes two lines the same finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) rule: &'static str,
    /// The code, where the rule stands for many.
    pub(super) code: Option<String>,
    /// The chip, for exceptions of cores.
    pub(super) chip: Option<u32>,
}

/// One finding in the making.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) rule: &'static Rule,
    pub(super) key: Key,
    pub(super) code: Option<Code>,
    pub(super) title: Option<String>,
    pub(super) note: Option<String>,
    pub(super) fields: Fields,
    pub(super) dies: BTreeSet<u32>,
    pub(super) count: u64,
    /// By position, the first few.
    pub(super) evidence: Vec<Evidence>,
}

/// All that was found in one log, or in all of them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    slots: BTreeMap<Key, Slot>,
    clues: BTreeMap<ClueId, Evidence>,
    lifted: Vec<Lifted>,
}

impl Slot {
    pub(super) fn new(rule: &'static Rule, evidence: Evidence) -> Self {
        Self {
            rule,
            key: Key { rule: rule.id, code: None, chip: None },
            code: None,
            title: None,
            note: None,
            fields: Fields::default(),
            dies: BTreeSet::new(),
            count: 1,
            evidence: vec![evidence],
        }
    }

    pub(super) fn first(&self) -> &Position {
        &self.evidence[0].position
    }

    /// Takes in a slot of the same finding. What comes first counts, the other fills the gaps.
    pub(super) fn merge(&mut self, mut other: Self) {
        if other.first() < self.first() {
            std::mem::swap(self, &mut other);
        }
        self.count += other.count;
        self.code = self.code.take().or(other.code);
        self.title = self.title.take().or(other.title);
        self.note = self.note.take().or(other.note);
        self.fields.fill_from(other.fields);
        self.dies.extend(other.dies);
        for evidence in other.evidence {
            let at = self.evidence.partition_point(|own| own.position < evidence.position);
            let is_new = self.evidence.get(at).is_none_or(|own| own.position != evidence.position);
            if at < EVIDENCE && is_new {
                self.evidence.insert(at, evidence);
                self.evidence.truncate(EVIDENCE);
            }
        }
    }
}

impl Ledger {
    /// Takes in a finding.
    pub(super) fn add(&mut self, slot: Slot) {
        if let Some(own) = self.slots.get_mut(&slot.key) {
            own.merge(slot);
        } else if self.slots.len() < SLOTS {
            self.slots.insert(slot.key.clone(), slot);
        }
    }

    /// Takes in a line that speaks for a cause.
    pub(super) fn add_clue(&mut self, id: ClueId, evidence: Evidence) {
        let own = self.clues.entry(id).or_insert_with(|| evidence.clone());
        if evidence.position < own.position {
            *own = evidence;
        }
    }

    /// Takes in a line `error detail:`.
    pub(super) fn add_detail(&mut self, text: String, evidence: Evidence) {
        let known = self.lifted.iter().any(|lifted| lifted.detail.as_ref() == Some(&text));
        if !known && self.lifted.len() < LIFTED {
            self.lifted.push(Lifted { detail: Some(text), hint: None, evidence });
        }
    }

    /// Takes in a line `error hint:`; it belongs to the detail right before it, if there is one without a hint.
    pub(super) fn add_hint(&mut self, text: String, evidence: Evidence) {
        const NEAR: u64 = 4;
        if self.lifted.iter().any(|lifted| lifted.hint.as_ref() == Some(&text)) {
            return;
        }
        let has_room = self.lifted.len() < LIFTED;
        let last = self.lifted.last_mut().filter(|last| {
            let distance = evidence.position.line.saturating_sub(last.evidence.position.line);
            last.hint.is_none() && distance <= NEAR
        });
        match last {
            Some(last) => last.hint = Some(text),
            None if has_room => self.lifted.push(Lifted { detail: None, hint: Some(text), evidence }),
            None => {}
        }
    }

    /// One ledger of all logs. Slots are taken in by position, so the order of the logs does not matter.
    pub(super) fn merge(ledgers: Vec<Self>) -> Self {
        let mut all = Self::default();
        let mut slots = Vec::new();
        for ledger in ledgers {
            slots.extend(ledger.slots.into_values());
            ledger.clues.into_iter().for_each(|(id, evidence)| all.add_clue(id, evidence));
            all.lifted.extend(ledger.lifted);
        }
        slots.sort_by(|a, b| a.first().cmp(b.first()).then_with(|| a.key.cmp(&b.key)));
        for slot in slots {
            match all.slots.get_mut(&slot.key) {
                Some(own) => own.merge(slot),
                None => drop(all.slots.insert(slot.key.clone(), slot)),
            }
        }
        all.lifted.sort_by(|a, b| a.evidence.position.cmp(&b.evidence.position));
        all.fold_chipless();
        all
    }

    /// The host says a code, the device says on which chip: the same event. Where chips are known, what names none
    /// belongs to the first of them.
    fn fold_chipless(&mut self) {
        let chipless: Vec<Key> = self.slots.keys().filter(|key| key.chip.is_none()).cloned().collect();
        for key in chipless {
            let same_rule = self.slots.values().filter(|slot| slot.key.rule == key.rule && slot.key.chip.is_some());
            let Some(target) = same_rule.min_by(|a, b| a.first().cmp(b.first())).map(|slot| slot.key.clone()) else {
                continue;
            };
            if let (Some(slot), Some(target)) = (self.slots.remove(&key), self.slots.get_mut(&target)) {
                let chip_and_die = (target.fields.chip, target.fields.die);
                target.merge(Slot { key: target.key.clone(), ..slot });
                (target.fields.chip, target.fields.die) = chip_and_die;
            }
        }
    }

    /// What was found, by position, and what speaks for causes, and the advice.
    pub(super) fn into_parts(self) -> (Vec<Slot>, BTreeMap<ClueId, Evidence>, Vec<Lifted>) {
        let mut slots: Vec<Slot> = self.slots.into_values().collect();
        slots.sort_by(|a, b| a.first().cmp(b.first()).then_with(|| a.key.cmp(&b.key)));
        (slots, self.clues, self.lifted)
    }
}
