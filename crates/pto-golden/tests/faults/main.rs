//! How often a fault is named right, measured on faults that are made here the way kernels make them. The figures in the
//! book come from this test, which also holds them: naming may become better, not worse.

mod make;

use std::collections::BTreeMap;

use make::{Fault, SUBJECTS, Subject, faults, random_places};
use pto_golden::pattern::{ALL, Clues, find};
use pto_golden::{Options, Rule};

#[derive(Debug, Default, Clone, Copy)]
struct Score {
    right: usize,
    /// The right name is there, behind another one.
    second: usize,
    wrong: usize,
    unnamed: usize,
}

fn judge(subject: &Subject, fault: &Fault) -> (Vec<&'static str>, bool) {
    let rule = Rule::default_for(subject.dtype);
    let options = Options { poisoned: true, ..Options::default() };
    let clues = Clues { previous: fault.previous.as_ref(), inputs: &fault.inputs, division: fault.division };
    let found = find(&fault.actual, &fault.expected, &rule, &options, &clues);
    let verdict = pto_golden::judge(&fault.actual, &fault.expected, &rule, &options);
    (found.into_iter().map(|pattern| pattern.id).collect(), verdict.passed())
}

#[test]
fn faults_are_named_as_often_as_the_book_says() {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut misses = Vec::new();
    let mut total = 0;
    for subject in SUBJECTS {
        for fault in faults(subject) {
            let (names, passed) = judge(subject, &fault);
            assert!(!passed, "{} on {subject:?} passed", fault.kind);
            total += 1;
            let score = scores.entry(fault.kind).or_default();
            match names.iter().position(|name| *name == fault.kind) {
                Some(0) => score.right += 1,
                Some(_) => score.second += 1,
                None if names.is_empty() => score.unnamed += 1,
                None => score.wrong += 1,
            }
            if names.first() != Some(&fault.kind) {
                misses.push(format!("{} ({}) on {subject:?}: {names:?}", fault.kind, fault.what));
            }
        }
    }
    let sum = |of: fn(&Score) -> usize| scores.values().map(of).sum::<usize>();
    let (right, second) = (sum(|s| s.right), sum(|s| s.second));
    let (wrong, unnamed) = (sum(|s| s.wrong), sum(|s| s.unnamed));
    let table: String = scores
        .iter()
        .map(|(kind, s)| {
            format!("{kind}: {} right, {} second, {} wrong, {} unnamed\n", s.right, s.second, s.wrong, s.unnamed)
        })
        .collect();
    let summary = format!("{total} faults: {right} right, {second} second, {wrong} wrong, {unnamed} unnamed");
    println!("{table}{summary}\n{}", misses.join("\n"));
    assert!(total >= 400, "{summary}");
    assert!(right as f64 >= 0.95 * total as f64, "{summary}\n{table}{}", misses.join("\n"));
    assert!(wrong as f64 <= 0.03 * total as f64, "{summary}\n{table}{}", misses.join("\n"));
    let missing: Vec<&str> = ALL.iter().map(|entry| entry.id).filter(|id| !scores.contains_key(id)).collect();
    assert!(missing.is_empty(), "no fault was made for {missing:?}");
}

/// Faults at places that nobody chose.
#[test]
fn random_places_are_named_as_often_as_the_book_says() {
    let (mut total, mut right, mut misses) = (0, 0, Vec::new());
    for subject in SUBJECTS {
        for fault in random_places(subject) {
            let (names, _) = judge(subject, &fault);
            total += 1;
            if names.first() == Some(&fault.kind) {
                right += 1;
            } else {
                misses.push(format!("{} ({}) on {subject:?}: {names:?}", fault.kind, fault.what));
            }
        }
    }
    let summary = format!("{right} of {total} random places are named right\n{}", misses.join("\n"));
    println!("{summary}");
    assert!(10 * right >= 9 * total, "{summary}");
}

/// Noise within the tolerance, and outputs that are right, have no pattern.
#[test]
fn what_is_right_has_no_pattern() {
    for subject in SUBJECTS {
        let expected = subject.golden(3);
        let rule = Rule::default_for(subject.dtype);
        assert!(find(&expected, &expected, &rule, &Options::default(), &Clues::default()).is_empty());
    }
}
