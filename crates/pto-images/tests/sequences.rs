//! Whatever is done to an image's tags in whatever order, each step with a fault somewhere: no untested image becomes current, no
//! version is lost, what has ended moves nothing more, and what `status` finds unfinished can be finished.

mod bench;

use bench::{Bench, FAULTS, Spoil};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use pto_images::Error;
use pto_images::promote::{Action, Begun, Kind, Outcome, State};

const IMAGES: [&str; 4] = ["zero", "one", "new", "other"];

/// What somebody does.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// Uploads an image, and compares it with the tested one.
    Upload(&'static str),
    Promote(Action),
    RollBack,
}

fn deed() -> impl Strategy<Value = Deed> {
    let image = || prop::sample::select(&IMAGES[..]);
    prop_oneof![
        3 => image().prop_map(Deed::Upload),
        3 => Just(Deed::Promote(Action::Begin)),
        2 => Just(Deed::Promote(Action::Resume)),
        1 => Just(Deed::Promote(Action::Undo)),
        1 => Just(Deed::RollBack),
    ]
}

/// A deed with a fault at one of its requests, if it makes so many.
type Step = (Deed, Option<(Spoil, usize)>);

fn step() -> impl Strategy<Value = Step> {
    (deed(), prop::option::of((prop::sample::select(&FAULTS[..]), 0..20_usize)))
}

impl Deed {
    fn run(self, bench: &Bench) -> Result<(), Error> {
        match self {
            Self::Upload(image) => {
                bench.uploaded(image, image).compare(&bench.cx(), &bench.options(), &bench.records()).map(drop)
            }
            Self::Promote(action) => bench.promote(action).map(drop),
            Self::RollBack => bench.roll_back_beside().map(drop),
        }
    }
}

/// What the records say that there is to do.
fn remedy(pending: &Begun) -> Vec<Deed> {
    match (pending.kind, pending.state, pending.outcome) {
        (Kind::Rollback, ..) => vec![Deed::RollBack],
        (Kind::Promotion, None, _) | (Kind::Promotion, Some(State::Foreign), None) => {
            vec![Deed::Upload("new"), Deed::Promote(Action::Begin)]
        }
        (Kind::Promotion, ..) => vec![Deed::Promote(Action::Resume)],
    }
}

#[test]
fn any_sequence_with_faults_loses_nothing_and_can_be_ended() {
    let Some(bench) = Bench::start() else { return };
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let steps = (prop::collection::vec(step(), 1..8), any::<bool>());
    TestRunner::new(config)
        .run(&steps, |(steps, whole)| {
            bench.forget_rollbacks();
            bench.deletes_images(whole);
            bench.tags(Some("one"), Some("zero"));
            let mut current = Some("one");
            for (deed, fault) in steps {
                let ended = bench
                    .records()
                    .load()
                    .unwrap()
                    .and_then(|record| record.is_over().then(|| record.outcome()).flatten());
                let before = bench.tags_now();
                match fault {
                    Some((spoil, at)) => bench.spoil(spoil, at),
                    None => bench.pass(),
                }
                let done = deed.run(&bench);
                bench.pass();
                let now = bench.tags_now();
                // Only a registry that deletes whole images takes `current` away, until the next run.
                prop_assert!(now.0.is_some() || whole, "{deed:?}: {done:?}");
                if let (Deed::Promote(_), Some(Outcome::Promoted | Outcome::TakenBack)) = (deed, ended) {
                    prop_assert_eq!(now, before, "it had ended");
                }
                // The image that users had is under a name, or its manifest is in the records.
                if let Some(was) = current.filter(|was| now.0 != Some(was) && now.1 != Some(was)) {
                    prop_assert!(bench.is_kept(was), "{was} is lost by {deed:?}: {now:?}");
                }
                current = now.0.or(current);
            }
            for _ in 0..3 {
                for deed in bench.all_begun().iter().filter(|begun| begun.is_pending()).flat_map(remedy) {
                    let done = deed.run(&bench);
                    prop_assert!(done.is_ok(), "{deed:?}: {done:?}");
                }
            }
            let left: Vec<_> = bench.all_begun().into_iter().filter(Begun::is_pending).collect();
            prop_assert!(left.is_empty(), "{left:?}");
            prop_assert!(bench.tags_now().0.is_some(), "something is current in the end");
            Ok(())
        })
        .unwrap();
}
