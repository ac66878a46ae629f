//! All texts of all rules, looked for in one pass.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::rule::{Clue, Pattern, Rule};
use super::rules;

/// What a line that matches belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    Rule(&'static Rule),
    Clue(ClueId),
    Marker(Marker),
}

/// Names one clue of one cause of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClueId {
    pub(super) rule: &'static str,
    pub(super) cause: usize,
    pub(super) clue: usize,
}

/// Lines that are more than a text to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A core or the AICPU had an exception.
    DeviceFault,
    /// More about that exception.
    DeviceDetail,
    /// `error detail:`.
    Detail,
    /// `error hint:`.
    Hint,
    /// `failed with code -N`.
    LatchedCode,
    /// A diagnostic of a compiler.
    Compiler,
    /// `Some_Name(XY0000):`.
    Message,
}

const MARKERS: &[(Marker, Pattern)] = &[
    (Marker::DeviceFault, &["The error from device(", "core id is "]),
    (Marker::DeviceFault, &["there is an", "error exception", "core id is "]),
    (Marker::DeviceFault, &["there is an", "aicore error", "pc start: "]),
    (Marker::DeviceFault, &["an exception occurred during AICPU execution"]),
    (Marker::DeviceFault, &["An exception occurred during AICPU execution"]),
    (Marker::DeviceFault, &["Aicpu kernel execute failed"]),
    (Marker::DeviceFault, &["AI CPU kernel execute failed"]),
    (Marker::DeviceFault, &["VEC instruction error"]),
    (Marker::DeviceFault, &["CUBE instruction error"]),
    (Marker::DeviceDetail, &["extend info", "errorStr"]),
    (Marker::DeviceDetail, &["task happen error, retCode="]),
    (Marker::DeviceDetail, &["Kernel happen error, retCode="]),
    (Marker::DeviceDetail, &["fault kernel_name="]),
    (Marker::Detail, &["error detail:"]),
    (Marker::Hint, &["error hint:"]),
    (Marker::LatchedCode, &["failed with code -"]),
    (Marker::Compiler, &["error: "]),
    (Marker::Compiler, &["macro redefined"]),
    (Marker::Message, &["(E", "):"]),
];

static MATCHER: LazyLock<Matcher> = LazyLock::new(Matcher::new);

struct Matcher {
    automaton: AhoCorasick,
    /// For each text: what it may belong to, and the texts that must then stand in the same line.
    targets: Vec<Vec<(Target, Vec<usize>)>>,
}

/// Finds what a line belongs to. Keeps its buffers from line to line.
#[derive(Debug, Default)]
pub(super) struct Finder {
    texts: Vec<usize>,
    targets: Vec<Target>,
}

impl Finder {
    /// What the line belongs to, in the order of the rules.
    pub(super) fn find(&mut self, line: &[u8]) -> &[Target] {
        let matcher = &*MATCHER;
        self.texts.clear();
        self.targets.clear();
        self.texts.extend(matcher.automaton.find_overlapping_iter(line).map(|found| found.pattern().as_usize()));
        self.texts.sort_unstable();
        self.texts.dedup();
        for text in &self.texts {
            for (target, others) in &matcher.targets[*text] {
                if others.iter().all(|other| self.texts.binary_search(other).is_ok()) {
                    self.targets.push(*target);
                }
            }
        }
        &self.targets
    }
}

impl Matcher {
    fn new() -> Self {
        let mut texts: Vec<&'static str> = Vec::new();
        let mut index: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut targets: Vec<Vec<(Target, Vec<usize>)>> = Vec::new();
        for (target, pattern) in all_patterns() {
            let mut ids: Vec<usize> = pattern
                .iter()
                .map(|text| {
                    *index.entry(text).or_insert_with(|| {
                        texts.push(text);
                        targets.push(Vec::new());
                        texts.len() - 1
                    })
                })
                .collect();
            // The longest text is the rarest: what depends on it is asked for least often.
            ids.sort_by_key(|id| std::cmp::Reverse(texts[*id].len()));
            let anchor = ids.remove(0);
            targets[anchor].push((target, ids));
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(&texts)
            .expect("the texts of the rules are few and short");
        Self { automaton, targets }
    }
}

fn all_patterns() -> impl Iterator<Item = (Target, Pattern)> {
    let of_rules = rules::all().flat_map(|rule| rule.patterns.iter().map(move |p| (Target::Rule(rule), *p)));
    let of_clues = rules::all().flat_map(clues_of).filter_map(|(id, clue)| match clue {
        Clue::Text(pattern) => Some((Target::Clue(id), *pattern)),
        _ => None,
    });
    let markers = MARKERS.iter().map(|(marker, pattern)| (Target::Marker(*marker), *pattern));
    of_rules.chain(of_clues).chain(markers)
}

fn clues_of(rule: &'static Rule) -> impl Iterator<Item = (ClueId, &'static Clue)> {
    rule.causes.iter().enumerate().flat_map(move |(cause, causes)| {
        let named = move |(clue, found)| (ClueId { rule: rule.id, cause, clue }, found);
        causes.clues.iter().enumerate().map(named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_texts_of_a_pattern_must_be_there() {
        let mut finder = Finder::default();
        let mut ids = |line: &str| -> Vec<&'static str> {
            let rules = finder.find(line.as_bytes()).iter().filter_map(|target| match target {
                Target::Rule(rule) => Some(rule.id),
                _ => None,
            });
            rules.collect()
        };
        assert_eq!(ids("version `GLIBCXX_3.4.99' not found (required by x)"), ["glibcxx-too-old"]);
        assert_eq!(ids("version `GLIBCXX_3.4.99' is there"), Vec::<&str>::new());
    }

    #[test]
    fn no_pattern_is_empty() {
        for (target, pattern) in all_patterns() {
            assert!(!pattern.is_empty() && pattern.iter().all(|text| text.len() > 1), "{target:?}");
        }
    }
}
