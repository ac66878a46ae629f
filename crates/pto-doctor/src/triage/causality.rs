//! Which finding is the first cause, and which ones followed from it.

use std::collections::BTreeMap;

use super::code::core_error;
use super::evidence::{Evidence, Position};
use super::ledger::{Ledger, Slot};
use super::matcher::ClueId;
use super::rule::{CauseRule, Clue, Rule, Severity};
use super::surroundings::Surroundings;
use super::value::{Cause, Finding, Role, Source, Step, Triage, Verdict};

/// What all that was found means.
///
/// 1. A finding is explained by another whose rule says so (an exhausted memory explains a device that cannot be set
///    up), wherever both stand: a host prints the code first and the reason after it.
/// 2. The first cause is the earliest finding that nothing explains and that is more than fallout. It counts from the
///    earliest line of what it explains.
/// 3. What it explains is a symptom. After a fault of the device everything from the runtime is fallout. What only ever
///    is fallout is so wherever it stands, for a card may have been sick before the log began.
/// 4. The rest stands for itself.
pub(super) fn judge(ledger: Ledger, sources: Vec<Source>, surroundings: &Surroundings) -> Triage {
    let (slots, clues, lifted) = ledger.into_parts();
    let slots = without_repetitions(slots);
    let explainers: Vec<Option<usize>> = (0..slots.len()).map(|index| explainer(&slots, index)).collect();
    let first = first_cause(&slots, &explainers);
    let mut order: Vec<(Role, usize)> =
        (0..slots.len()).map(|index| (role(&slots, &explainers, first, index), index)).collect();
    order.sort_by_key(|(role, index)| (*role, *index));

    let scene = Scene { slots: &slots, clues: &clues, surroundings };
    let findings: Vec<Finding> = order
        .into_iter()
        .map(|(role, index)| scene.finding(index, role, explainers[index].map(|by| slots[by].rule.id)))
        .collect();
    Triage { verdict: verdict(&findings), findings, lifted, sources }
}

/// A general compile error says no more than a rule that knows the same line, CANN's envelope round a reason no more
/// than the reason, and a general rule no more than the one that explains it at the same lines.
fn without_repetitions(slots: Vec<Slot>) -> Vec<Slot> {
    let is_known = |position: &Position| slots.iter().any(|o| o.rule.id != "compile-error" && o.first() == position);
    let says_more = |slot: &Slot| slot.rule.severity <= Severity::Warning && !slot.rule.fallout;
    let has_reason = slots.iter().any(says_more);
    let repeats = |slot: &Slot| match slot.rule.id {
        "compile-error" => is_known(slot.first()),
        "inner-error" => has_reason && slot.is_from_a_log(),
        _ => false,
    };
    let kept: Vec<Slot> = slots.iter().filter(|slot| !repeats(slot)).cloned().collect();
    let is_narrower = |slot: &Slot, other: &Slot| {
        !slot.rule.fallout
            && other.rule.explains.contains(&slot.rule.id)
            && slot.is_from_a_log()
            && other.first() == slot.first()
            && other.count >= slot.count
    };
    let repeated: Vec<bool> = kept.iter().map(|slot| kept.iter().any(|other| is_narrower(slot, other))).collect();
    kept.into_iter().zip(repeated).filter_map(|(slot, repeated)| (!repeated).then_some(slot)).collect()
}

fn explainer(slots: &[Slot], index: usize) -> Option<usize> {
    let slot = &slots[index];
    slots.iter().enumerate().find_map(|(by, other)| {
        let explains = by != index && other.rule.explains.contains(&slot.rule.id);
        explains.then_some(by)
    })
}

/// Follows the explanations to their end.
fn root_of(explainers: &[Option<usize>], mut index: usize) -> usize {
    // Explanations have no circle, as a test of the rules makes sure.
    while let Some(by) = explainers[index] {
        index = by;
    }
    index
}

fn first_cause(slots: &[Slot], explainers: &[Option<usize>]) -> Option<usize> {
    let effective = |root: usize| (0..slots.len()).find(|index| root_of(explainers, *index) == root).unwrap_or(root);
    let earliest = |wanted: &dyn Fn(&Rule) -> bool| {
        let roots = (0..slots.len()).filter(|index| explainers[*index].is_none() && wanted(slots[*index].rule));
        roots.min_by_key(|root| effective(*root))
    };
    earliest(&|rule| rule.severity == Severity::Fault && !rule.fallout)
        .or_else(|| earliest(&|rule| rule.severity == Severity::Warning && !rule.fallout))
        .or_else(|| earliest(&|rule| rule.fallout))
}

fn role(slots: &[Slot], explainers: &[Option<usize>], first: Option<usize>, index: usize) -> Role {
    let rule = slots[index].rule;
    match (rule.severity, first) {
        (Severity::Unknown, _) => Role::Unknown,
        (Severity::Expected, _) => Role::Expected,
        (_, Some(first)) if first == index => Role::FirstCause,
        (_, Some(first)) if rule.fallout || follows(slots, first, index) => Role::Fallout,
        (_, Some(first)) if root_of(explainers, index) == first => Role::Symptom,
        _ => Role::Separate,
    }
}

/// After a fault of a device nothing counts that the runtime reports of it; another chip is another matter.
fn follows(slots: &[Slot], first: usize, index: usize) -> bool {
    let (first, other) = (&slots[first], &slots[index]);
    let same_chip = match (first.fields.chip, other.fields.chip) {
        (Some(first), Some(other)) => first == other,
        _ => true,
    };
    first.rule.poisons && other.rule.family == first.rule.family && first.first() <= other.first() && same_chip
}

/// A symptom matters as much as what explains it.
fn verdict(findings: &[Finding]) -> Verdict {
    let counts = |finding: &&Finding| !matches!(finding.role, Role::Symptom | Role::Fallout);
    let worst = findings.iter().filter(counts).map(|finding| finding.severity).min();
    match worst {
        None => Verdict::Nothing,
        Some(Severity::Fault) => Verdict::Fault,
        Some(Severity::Warning) => Verdict::Doubtful,
        Some(Severity::Unknown) => Verdict::Unknown,
        Some(Severity::Expected) => Verdict::Harmless,
    }
}

/// Everything that speaks for or against something.
struct Scene<'a> {
    slots: &'a [Slot],
    clues: &'a BTreeMap<ClueId, Evidence>,
    surroundings: &'a Surroundings,
}

impl Scene<'_> {
    fn finding(&self, index: usize, role: Role, explained_by: Option<&'static str>) -> Finding {
        let slot = &self.slots[index];
        let rule = slot.rule;
        let (device, log) = (self.device(slot), &slot.evidence[0].source);
        let steps = rule
            .guide
            .iter()
            .map(|step| Step { why: step.why.to_owned(), command: self.surroundings.fill(step.command, device, log) });
        Finding {
            id: rule.id,
            role,
            severity: rule.severity,
            family: rule.family,
            title: slot.title.clone().unwrap_or_else(|| rule.title.to_owned()),
            about: rule.docs,
            code: slot.code.clone(),
            note: self.note(slot, role),
            explained_by,
            fields: slot.fields.clone(),
            count: slot.count.max(1),
            evidence: slot.evidence.clone(),
            causes: self.causes(slot),
            guide: steps.collect(),
        }
    }

    /// The device that a command is for: the slot's own, else the one that all others name.
    fn device(&self, slot: &Slot) -> Option<u32> {
        let mut named = self.slots.iter().filter_map(|other| other.fields.device);
        let first = named.next();
        let all_agree = named.all(|device| Some(device) == first);
        slot.fields.device.or(first.filter(|_| all_agree))
    }

    fn note(&self, slot: &Slot, role: Role) -> Option<String> {
        let core = slot.fields.error_code.as_deref().filter(|_| slot.fields.reason.is_none()).and_then(core_error);
        let alone = (role == Role::FirstCause && slot.rule.fallout)
            .then(|| "it names no cause by itself: look for an earlier fault, in this run or one before it".to_owned());
        let notes = [slot.note.clone(), core.map(str::to_owned), alone];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Those with evidence first; among equals the cheapest check first, which is the order of the rule.
    fn causes(&self, slot: &Slot) -> Vec<Cause> {
        let of_rule = slot.rule.causes.iter().enumerate().map(|(index, cause)| self.cause(slot, index, cause));
        let mut causes: Vec<Cause> = of_rule.collect();
        causes.sort_by_key(|cause| cause.evidence.is_empty());
        causes
    }

    fn cause(&self, slot: &Slot, index: usize, cause: &CauseRule) -> Cause {
        let evidence = cause.clues.iter().enumerate().filter_map(|(clue, found)| {
            let id = ClueId { rule: slot.rule.id, cause: index, clue };
            self.speaks(slot, id, found)
        });
        let mut evidence: Vec<String> = evidence.collect();
        evidence.dedup();
        Cause {
            text: cause.text.to_owned(),
            evidence,
            check: self.surroundings.fill(cause.check, self.device(slot), &slot.evidence[0].source),
        }
    }

    fn speaks(&self, slot: &Slot, id: ClueId, clue: &Clue) -> Option<String> {
        match clue {
            Clue::Text(_) => self.clues.get(&id).map(|line| format!("{line}: {}", line.text)),
            Clue::Rule(rule) => {
                let other = self.slots.iter().find(|other| other.rule.id == *rule)?;
                Some(format!("`{rule}` at {}", other.evidence[0]))
            }
            Clue::BothDies => {
                let dies: Vec<String> = slot.dies.iter().map(u32::to_string).collect();
                (dies.len() > 1).then(|| format!("dies {} of the same chip had it", dies.join(" and ")))
            }
            Clue::Machine(ask) => ask(self.surroundings).map(|answer| format!("on this machine: {answer}")),
        }
    }
}
