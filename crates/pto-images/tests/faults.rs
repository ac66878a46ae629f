//! Faults at every single request of a promotion, of taking one back, and of a rollback, against a real registry: whatever
//! happens, `current` leads to a tested image, the version before keeps its name, and the next run comes to the right end.

#![allow(clippy::print_stdout, reason = "the figures that the documentation has")]

mod bench;

use bench::{Bench, FAULTS, PREVIOUS, Spoil, TAG, moves};
use pto_images::promote::{Action, State};
use pto_loopback::Act;

/// How the tags stand when it begins.
struct Start {
    what: &'static str,
    current: Option<&'static str>,
    previous: Option<&'static str>,
}

const FIRST: Start = Start { what: "the first image", current: None, previous: None };
const SECOND: Start = Start { what: "the second image", current: Some("one"), previous: None };
const USUAL: Start = Start { what: "the usual", current: Some("one"), previous: Some("zero") };
const SAME: Start = Start { what: "the same again", current: Some("new"), previous: Some("one") };

impl Start {
    /// Where the tags lead in the end.
    fn end(&self) -> (Option<&'static str>, Option<&'static str>) {
        let first_or_same = self.current.is_none() || self.current == Some("new");
        (Some("new"), if first_or_same { self.previous } else { self.current })
    }

    /// The tags as they are when it begins, and an image that was uploaded.
    fn set(&self, bench: &Bench) {
        bench.tags(self.current, self.previous);
        bench.publication("new");
    }
}

/// Each fault at each of so many requests.
fn every(faults: &[Spoil], requests: usize) -> impl Iterator<Item = (Spoil, usize)> {
    faults.iter().flat_map(move |spoil| (0..requests).map(move |at| (*spoil, at)))
}

/// Faults whose consequences differ most: heard and not answered, not heard, answered wrongly.
const KINDS: [Spoil; 3] = [Spoil::CutAnswer, Spoil::Status(500), Spoil::Unknown];

/// Any fault at any request of a promotion from there: nothing is lost, and the next run comes to the right end.
fn promotion_from(start: &Start, faults: &[Spoil]) {
    let Some(bench) = Bench::start() else { return };
    start.set(&bench);
    bench.pass();
    bench.promote(Action::Begin).unwrap();
    let requests = bench.gate.seen().len();
    println!("promotion, {}: {requests} requests, {} runs", start.what, requests * faults.len());
    assert_eq!(bench.tags_now(), start.end(), "{}", start.what);
    for (spoil, at) in every(faults, requests) {
        let context = format!("{}: {spoil:?} at request {at} of {requests}", start.what);
        start.set(&bench);
        bench.spoil(spoil, at);
        let first = bench.promote(Action::Begin);
        bench.nothing_lost(start.current, start.previous, &context);
        bench.pass();
        let action = if bench.record().before.is_some() { Action::Resume } else { Action::Begin };
        let next = bench.promote(action).unwrap_or_else(|error| panic!("{context}: {first:?}, then {error}"));
        assert_eq!(bench.tags_now(), start.end(), "{context}: {first:?}, then {next:?}");
        assert!(next.problems().is_empty(), "{context}: {next:?}");
        assert!(bench.record().is_over(), "{context}");
    }
}

#[test]
fn one_fault_anywhere_in_the_usual_promotion_loses_nothing() {
    promotion_from(&USUAL, &FAULTS);
}

// Where some steps are left out, one fault of each kind.

#[test]
fn one_fault_anywhere_in_the_first_promotion_loses_nothing() {
    promotion_from(&FIRST, &KINDS);
}

#[test]
fn one_fault_anywhere_in_the_second_promotion_loses_nothing() {
    promotion_from(&SECOND, &KINDS);
}

#[test]
fn one_fault_anywhere_in_a_repetition_loses_nothing() {
    promotion_from(&SAME, &KINDS);
}

#[test]
fn a_fault_that_lasts_can_be_finished_or_taken_back() {
    let Some(bench) = Bench::start() else { return };
    USUAL.set(&bench);
    bench.pass();
    bench.promote(Action::Begin).unwrap();
    let requests = bench.gate.seen().len();
    for (spoil, at) in every(&KINDS, requests) {
        let context = format!("{spoil:?} from request {at} on");
        USUAL.set(&bench);
        bench.spoil_from(spoil, at);
        let first = bench.promote(Action::Begin);
        assert!(first.as_ref().map_or(true, |report| !report.problems().is_empty()), "{context}: {first:?}");
        bench.nothing_lost(USUAL.current, USUAL.previous, &context);
        bench.pass();
        let is_current = bench.tags_now().0 == Some("new");
        let action = if is_current { Action::Resume } else { Action::Undo };
        bench.promote(action).unwrap_or_else(|error| panic!("{context}: {error}"));
        let expected = if is_current { USUAL.end() } else { (USUAL.current, USUAL.previous) };
        assert_eq!(bench.tags_now(), expected, "{context}");
    }
    println!("promotion, lasting: {} runs", requests * KINDS.len());
}

#[test]
fn one_fault_anywhere_while_the_registry_deletes_whole_images_is_mended() {
    let Some(bench) = Bench::start() else { return };
    bench.deletes_images(true);
    USUAL.set(&bench);
    bench.promote(Action::Begin).unwrap();
    let requests = bench.gate.seen().len();
    println!("promotion, whole images are deleted: {requests} requests, {} runs", requests * KINDS.len());
    for (spoil, at) in every(&KINDS, requests) {
        let context = format!("{spoil:?} at request {at} of {requests}");
        USUAL.set(&bench);
        bench.spoil(spoil, at);
        let first = bench.promote(Action::Begin);
        bench.pass();
        let action = if bench.record().before.is_some() { Action::Resume } else { Action::Begin };
        bench.promote(action).unwrap_or_else(|error| panic!("{context}: {first:?}, then {error}"));
        assert_eq!(bench.tags_now(), USUAL.end(), "{context}: {first:?}");
    }
}

#[test]
fn one_fault_anywhere_in_taking_back_loses_nothing() {
    let Some(bench) = Bench::start() else { return };
    for start in [SECOND, USUAL] {
        let half_way = || {
            start.set(&bench);
            bench.decide(|_, request| moves(request, TAG).then_some(Act::Cut));
            bench.promote(Action::Begin).unwrap_err();
            assert_eq!(bench.tags_now(), (start.current, start.current), "{}", start.what);
            assert_eq!(bench.state(), State::PreviousMoved);
            bench.pass();
        };
        half_way();
        bench.promote(Action::Undo).unwrap();
        let requests = bench.gate.seen().len();
        println!("taking back, {}: {requests} requests, {} runs", start.what, requests * KINDS.len());
        for (spoil, at) in every(&KINDS, requests) {
            let context = format!("{}: {spoil:?} at request {at} of {requests}", start.what);
            half_way();
            bench.spoil(spoil, at);
            let first = bench.promote(Action::Undo);
            assert_eq!(bench.tags_now().0, start.current, "{context}");
            bench.nothing_lost(start.current, start.previous, &context);
            bench.pass();
            bench.promote(Action::Undo).unwrap_or_else(|error| panic!("{context}: {first:?}, then {error}"));
            assert_eq!(bench.tags_now(), (start.current, start.previous), "{context}");
        }
    }
}

#[test]
fn one_fault_anywhere_in_a_rollback_loses_nothing() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("new"), Some("one"));
    bench.pass();
    bench.roll_back().unwrap();
    let requests = bench.gate.seen().len();
    println!("rollback: {requests} requests, {} runs", requests * FAULTS.len());
    for (spoil, at) in every(&FAULTS, requests) {
        let context = format!("{spoil:?} at request {at} of {requests}");
        bench.tags(Some("new"), Some("one"));
        bench.spoil(spoil, at);
        let first = bench.roll_back();
        bench.gate.settle();
        let (current, previous) = bench.tags_now();
        assert!(matches!(current, Some("new" | "one")), "{context}: {current:?}");
        assert_eq!(previous, Some("one"), "{context}");
        bench.pass();
        bench.roll_back().unwrap_or_else(|error| panic!("{context}: {first:?}, then {error}"));
        assert_eq!(bench.tags_now(), (Some("one"), Some("one")), "{context}");
    }
    assert_eq!(bench.roll_back().unwrap().moved, None, "once more changes nothing");
}

#[test]
fn one_fault_anywhere_in_the_comparison_lets_nothing_untested_through() {
    let Some(bench) = Bench::start() else { return };
    for (spoil, at) in every(&FAULTS, 1) {
        bench.tags(Some("one"), None);
        let uploaded = bench.uploaded("other", "new");
        bench.spoil(spoil, at);
        let error = uploaded.compare(&bench.cx(), &bench.options(), &bench.records()).unwrap_err();
        assert!(bench.record().candidate.is_none(), "{spoil:?} at {at}: {error}");
        bench.pass();
        bench.promote(Action::Begin).unwrap_err();
        assert_eq!(bench.tags_now(), (Some("one"), None));
    }
}

/// Between a look and the request that follows it there is nothing that a registry offers, so a tag that is moved right
/// there is moved back. At every other moment it is seen and left alone.
#[test]
fn a_tag_that_somebody_else_moves_meanwhile_is_left_alone() {
    let Some(bench) = Bench::start() else { return };
    USUAL.set(&bench);
    bench.pass();
    bench.promote(Action::Begin).unwrap();
    let seen = bench.gate.seen();
    let last = seen.iter().rposition(|request| request.method == "PUT").unwrap();
    for tag in [TAG, PREVIOUS] {
        let mut windows = 0;
        // Once both tags were read; before that it is simply what this begins with.
        for (at, request) in seen.iter().enumerate().take(last + 1).skip(2) {
            let context = format!("{tag} moved before request {at}: {} {}", request.method, request.path);
            USUAL.set(&bench);
            bench.interfere(tag, "other", at);
            let outcome = bench.promote(Action::Begin);
            let (current, previous) = bench.tags_now();
            let now = if tag == TAG { current } else { previous };
            if now == Some("other") {
                let error = outcome.unwrap_err();
                assert!(error.to_string().contains("leads to"), "{context}: {error}");
                bench.pass();
                assert_eq!(bench.state(), State::Foreign, "{context}");
                assert!(bench.promote(Action::Resume).is_err(), "{context}");
            } else {
                windows += 1;
            }
        }
        println!("{tag}: {windows} of {} moments are not seen", last - 1);
        assert!(windows <= 2, "{tag}: {windows}");
    }
}
