//! What is known, as data: one table for each family.
//!
//! A rule has a stable id, the texts or codes by which it shows, what it explains, possible causes with the cheapest
//! check for each, and a documentation page. A new one is an entry in a table and a fixture that triggers it.

mod compiler;
mod device;
mod docker;
mod linker;
mod npu_smi;
mod process;
mod ptoas;
mod runtime;
mod simulator;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::rule::Rule;

const FAMILIES: [&[Rule]; 9] = [
    npu_smi::RULES,
    runtime::RULES,
    device::RULES,
    compiler::RULES,
    linker::RULES,
    simulator::RULES,
    docker::RULES,
    ptoas::RULES,
    process::RULES,
];

static ALL: LazyLock<BTreeMap<&'static str, &'static Rule>> =
    LazyLock::new(|| FAMILIES.iter().flat_map(|rules| rules.iter()).map(|rule| (rule.id, rule)).collect());

static BY_CODE: LazyLock<BTreeMap<i64, &'static Rule>> =
    LazyLock::new(|| all().flat_map(|rule| rule.codes.iter().map(move |code| (*code, rule))).collect());

/// All rules, by id.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    ALL.values().copied()
}

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.get(id).copied()
}

/// The rule that this crate itself names.
pub(super) fn by_id(id: &'static str) -> &'static Rule {
    find(id).expect("a rule that the code names is in the tables")
}

/// The rule that lists a numeric code.
pub(super) fn of_code(code: i64) -> Option<&'static Rule> {
    BY_CODE.get(&code).copied()
}

/// The rule that lists a code with letters.
pub(super) fn of_message(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.messages.contains(&code))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::rule::Clue;
    use super::super::surroundings::Surroundings;
    use super::*;

    #[test]
    fn ids_are_kebab_case_and_unique() {
        let count: usize = FAMILIES.iter().map(|rules| rules.len()).sum();
        assert_eq!(ALL.len(), count, "an id is used twice");
        for rule in all() {
            let is_kebab =
                rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            assert!(is_kebab && !rule.id.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn every_rule_is_documented() {
        for rule in all() {
            assert!(!rule.title.is_empty() && !rule.title.ends_with('.'), "{}", rule.id);
            assert!(rule.docs.len() > 40 && rule.docs.ends_with('.'), "{}: {}", rule.id, rule.docs);
            for cause in rule.causes {
                assert!(!cause.text.is_empty() && !cause.text.ends_with('.') && !cause.check.is_empty(), "{}", rule.id);
            }
            assert!(rule.page().contains(rule.docs));
        }
    }

    #[test]
    fn what_rules_name_is_there() {
        let ids: BTreeSet<_> = all().map(|rule| rule.id).collect();
        for rule in all() {
            for other in rule.explains {
                assert!(ids.contains(other) && *other != rule.id, "{} explains {other}", rule.id);
            }
            for clue in rule.causes.iter().flat_map(|cause| cause.clues) {
                if let Clue::Rule(other) = clue {
                    assert!(ids.contains(other), "{} asks for {other}", rule.id);
                }
            }
        }
    }

    #[test]
    fn explanations_have_no_circle() {
        fn visit(rule: &'static Rule, way: &mut Vec<&'static str>) {
            assert!(!way.contains(&rule.id), "{way:?} leads back to {}", rule.id);
            way.push(rule.id);
            rule.explains.iter().for_each(|other| visit(find(other).unwrap(), way));
            way.pop();
        }
        all().for_each(|rule| visit(rule, &mut Vec::new()));
    }

    #[test]
    fn no_code_has_two_rules() {
        let codes: Vec<i64> = all().flat_map(|rule| rule.codes).copied().collect();
        assert_eq!(codes.len(), BY_CODE.len());
        for code in codes {
            assert!(
                super::super::code::of_number(code).is_some_and(|meaning| meaning.code.meaning.is_some()),
                "{code}"
            );
        }
    }

    /// Commands are there to be pasted: filled in, a shell must understand each.
    #[test]
    fn every_command_is_one_for_a_shell() {
        let cx = pto_context::Context::fake("/", [("PATH", "/usr/bin:/bin")]);
        let of_causes = all().flat_map(|rule| rule.causes.iter().map(move |cause| (rule.id, cause.check)));
        let of_steps = all().flat_map(|rule| rule.guide.iter().map(move |step| (rule.id, step.command)));
        for (id, command) in of_causes.chain(of_steps) {
            let command = Surroundings::default().fill(command, Some(1), "my log.txt");
            for placeholder in ["{driver}", "{device}", "{image}", "{log}"] {
                assert!(!command.contains(placeholder), "{id}: {command}");
            }
            let parsed = pto_process::Invocation::new("sh").args(["-n", "-c", &command]).run(&cx).unwrap();
            assert_eq!(parsed.status, pto_process::Status::Exited(0), "{id}: {command}\n{}", parsed.stderr.text());
        }
    }

    /// Two causes with one check would not be told apart by it.
    #[test]
    fn no_rule_has_one_check_for_two_causes() {
        for rule in all() {
            let checks: BTreeSet<_> = rule.causes.iter().map(|cause| cause.check).collect();
            assert_eq!(checks.len(), rule.causes.len(), "{}", rule.id);
        }
    }

    /// A reset takes the card from everybody, and has cost whole hosts: it is never the first thing to do.
    #[test]
    fn no_first_check_is_a_reset() {
        for rule in all() {
            assert!(rule.causes.first().is_none_or(|cause| !cause.check.contains("reset")), "{}", rule.id);
        }
    }
}
