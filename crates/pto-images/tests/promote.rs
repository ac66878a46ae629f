//! What a promotion does when the world is not as it was when it began.

mod bench;

use bench::{Bench, NAME, PREVIOUS, TAG, TEMPORARY, moves};
use pto_images::Error;
use pto_images::promote::{Action, Names, Public, State, Status, Temporary, Upload, Uploaded, status};
use pto_images::registry::{Credentials, Digest, Options};
use pto_loopback::{Act, Reply};
use pto_test::registry::push_list;

/// `previous` was moved, `current` was not.
fn half_way(bench: &Bench) {
    half_way_to(bench, "new");
}

fn half_way_to(bench: &Bench, image: &str) {
    bench.tags(Some("one"), Some("zero"));
    bench.publication(image);
    bench.decide(|_, request| moves(request, TAG).then_some(Act::Cut));
    bench.promote(Action::Begin).unwrap_err();
    bench.pass();
    assert_eq!(bench.tags_now(), (Some("one"), Some("one")));
}

#[test]
fn a_newer_recipe_stops_it_and_takes_back_what_was_begun() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    bench.newer_recipe();
    assert!(matches!(bench.promote(Action::Resume), Err(Error::TakenBack { .. })));
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));
    assert!(bench.record().is_over());
    assert_eq!(bench.registry.digest_of(NAME, TEMPORARY), None, "and its temporary tag is gone");
    assert!(bench.status().is_settled());

    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    bench.pass();
    let refused = bench.promote(Action::Begin).unwrap_err();
    let said = pto_context::with_causes(&refused);
    assert!(said.contains("was taken back") && said.contains("is not the newest"), "{said}");
    assert!(refused.hint().unwrap().contains("as they were"), "{refused:?}");
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));
}

#[test]
fn a_record_does_not_say_whose_recipe_counts() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    bench.newer_recipe();
    let file = bench.records().file();
    let record = fs_err::read_to_string(&file).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&record).unwrap();
    // A branch that stays where the recipe was, a repository of somebody else's, and no word of a recipe.
    for (pointer, other) in
        [("/recipe/branch", "old"), ("/recipe/repository", "https://me:secret@h.example/x"), ("/recipe", "")]
    {
        let before = value.pointer(pointer).unwrap().clone();
        *value.pointer_mut(pointer).unwrap() = if other.is_empty() { serde_json::Value::Null } else { other.into() };
        fs_err::write(&file, value.to_string()).unwrap();
        let refused = bench.promote(Action::Resume).unwrap_err();
        assert!(matches!(&refused, Error::OtherRecords { found, .. } if found.contains("recipe")), "{refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
        assert_eq!(bench.tags_now(), (Some("one"), Some("one")));
        *value.pointer_mut(pointer).unwrap() = before;
    }
    fs_err::write(&file, value.to_string()).unwrap();
    assert!(matches!(bench.promote(Action::Resume), Err(Error::TakenBack { .. })));
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));
}

#[test]
fn an_upstream_that_does_not_answer_changes_nothing() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    bench.upstream(false);
    assert!(matches!(bench.promote(Action::Resume), Err(Error::UpstreamUnknown { .. })));
    assert_eq!(bench.tags_now(), (Some("one"), Some("one")), "neither finished nor taken back on a guess");
    bench.upstream(true);
    bench.promote(Action::Resume).unwrap();
    assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
}

#[test]
fn a_registry_that_deletes_no_tags_by_name_keeps_its_digests() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    // The real registry answers, and it cannot do it.
    bench.gate.decide(|_, _| Act::Pass);
    let report = bench.promote(Action::Begin).unwrap();
    assert_eq!(report.temporary, Temporary::Unsupported { tag: TEMPORARY.to_owned() });
    assert_eq!(report.problems(), [""; 0], "it is promoted, and no further run could do more");
    let note = &report.notes()[0];
    let removal = format!("`rm -r docker/registry/v2/repositories/{NAME}/_manifests/tags/{TEMPORARY}`");
    assert!(note.contains("never delete by digest") && note.contains(&removal), "{note}");
    assert!(bench.record().is_over(), "no further run could do it");
    assert!(bench.promote(Action::Resume).unwrap().notes().is_empty(), "it is said once");
    assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
    let now = bench.status();
    assert!(now.temporary[0].image == Upload::Current && now.is_settled(), "no run could do more");
    assert_eq!(now.begun[0].state, Some(State::Done));
    // Somebody has deleted it by hand.
    bench.registry.delete_tag(NAME, TEMPORARY);
    bench.promote(Action::Resume).unwrap();
    assert!(bench.status().is_settled());

    // Taking back the first `previous` cannot be done there either: it stays, and leads to the current image.
    bench.tags(Some("one"), None);
    bench.publication("new");
    bench.decide(|_, request| moves(request, TAG).then_some(Act::Cut));
    bench.promote(Action::Begin).unwrap_err();
    bench.gate.decide(|_, _| Act::Pass);
    bench.promote(Action::Undo).unwrap();
    assert_eq!(bench.tags_now(), (Some("one"), Some("one")));
}

#[test]
fn an_upload_that_is_older_than_what_is_current_is_not_offered() {
    let Some(bench) = Bench::start() else { return };
    bench.pass();
    let push = |tag: &str, at| bench.registry.push_built(NAME, tag, "arm64", tag, at);
    push(TAG, Some("2026-02-01T10:00:00.5Z"));
    let upload = |run: &str, at| push(&Names::new(TAG).temporary(run, 1), at);
    upload("1", Some("2026-02-01T10:00:00.4Z"));
    upload("2", Some("2026-02-01T10:00:00.6Z"));
    upload("3", None);
    upload("4", Some("yesterday"));
    let status = || status(&bench.client(), &Names::new(TAG), &[]).unwrap();
    let images = |status: &Status| status.temporary.iter().map(|left| left.image).collect::<Vec<_>>();
    let now = status();
    assert_eq!(images(&now), [Upload::Superseded, Upload::NotPromoted, Upload::NotPromoted, Upload::NotPromoted]);
    assert_eq!(now.current.unwrap().created.as_deref(), Some("2026-02-01T10:00:00.500000000Z"));
    // Where the age of what is current is not known, none is older.
    push(TAG, None);
    assert!(images(&status()).iter().all(|image| *image == Upload::NotPromoted));
}

#[test]
fn what_a_promotion_needs_is_not_called_left_over() {
    let Some(bench) = Bench::start() else { return };
    // An image that was current before is promoted again.
    half_way_to(&bench, "zero");
    let image = || bench.status().temporary[0].image;
    assert_eq!(image(), Upload::Pending);
    // The registry deletes no tags.
    bench.gate.decide(|_, _| Act::Pass);
    bench.promote(Action::Undo).unwrap();
    assert_eq!((image(), bench.tags_now()), (Upload::Previous, (Some("one"), Some("zero"))));
    half_way(&bench);
    bench.gate.decide(|_, _| Act::Pass);
    bench.promote(Action::Undo).unwrap();
    assert_eq!(image(), Upload::TakenBack);
    assert!(bench.status().is_settled(), "nobody can do more: the registry deletes no tags");
    assert!(matches!(bench.promote(Action::Begin), Err(Error::Over { .. })));
}

#[test]
fn a_rollback_that_cannot_begin_keeps_the_record_of_the_last_one() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.pass();
    bench.roll_back_beside().unwrap();
    bench.registry.delete_tag(NAME, PREVIOUS);
    assert!(matches!(bench.roll_back_beside(), Err(Error::NothingBefore { .. })));
    let begun = bench.all_begun();
    assert!(begun.len() == 1 && begun[0].over, "{begun:?}");
}

#[test]
fn what_only_users_with_a_login_read_is_looked_at_with_one() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), None);
    bench.gate.decide(|_, request| match request.header("authorization") {
        Some(_) => Act::Pass,
        None => Act::Answer(Reply::status(401).header("WWW-Authenticate", "Basic realm=here")),
    });
    let one: Digest = bench.pushed("one").manifest.parse().unwrap();
    let (cx, repository) = (bench.cx(), bench.repository());
    let login = Some(Credentials { user: "u".to_owned(), password: "p".to_owned() });
    let ask = |credentials: &Option<_>, private| {
        let options = Options { credentials: credentials.clone(), private, ..bench.options() };
        Public::ask(&cx, &repository, &options, TAG, &one).unwrap()
    };
    let anybody = ask(&login, false);
    assert!(anybody.digest.is_none() && anybody.problem.unwrap().contains("`--private`"));
    let users = ask(&login, true);
    assert_eq!((users.digest.as_ref(), users.problem), (Some(&one), None));
    assert!(ask(&None, true).problem.unwrap().contains("this login may not read"));
}

#[test]
fn what_is_damaged_does_not_hide_the_rest() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.pass();
    let names = Names::new(TAG);
    let (unread, empty) = (names.temporary("1", 1), names.temporary("2", 1));
    let damaged = bench.registry.push(NAME, &unread, "arm64", "damaged");
    let list = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#;
    bench.registry.put(NAME, &empty, "application/vnd.oci.image.index.v1+json", list.as_bytes());
    let blob = format!("/blobs/{}", damaged.config);
    let gone = || Reply::body(r#"{"errors":[{"code":"BLOB_UNKNOWN"}]}"#).with_status(404);
    bench.decide(move |_, request| request.path.ends_with(&blob).then(|| Act::Answer(gone())));
    let now = status(&bench.client(), &names, &[]).unwrap();
    let found: Vec<_> = now.temporary.iter().map(|left| (left.image, left.digest.is_some())).collect();
    assert_eq!(found, [(Upload::Unreadable, true), (Upload::Unreadable, false)], "{now:?}");
    assert!(now.temporary[0].problem.as_ref().unwrap().contains("BLOB_UNKNOWN"), "{now:?}");
    assert!(now.current.is_some() && now.is_settled(), "nobody can promote them");
    // So does what is current itself; where nothing answers, nothing is said.
    bench.decide(|_, request| request.path.contains("/blobs/").then(|| Act::Answer(Reply::status(404))));
    let now = status(&bench.client(), &names, &[]).unwrap().current.unwrap();
    assert!(now.platforms.is_empty() && now.problem.is_some(), "{now:?}");
    bench.decide(|_, _| Some(Act::Answer(Reply::status(401))));
    assert!(status(&bench.client(), &names, &[]).is_err());
}

#[test]
fn an_image_gets_another_tag_where_its_base_changes() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    let about = |tag: &str| bench.records().about("arm", &bench.repository(), &Names::new(tag));
    assert!(about("other").last().is_err(), "what can still be finished is not given up");
    bench.promote(Action::Begin).unwrap();
    assert!(about("other").load().is_err(), "nothing of another tag is promoted");
    assert_eq!(about("other").last().unwrap().unwrap().tag, TAG);
    let other = Uploaded { names: Names::new("other"), ..bench.uploaded("new", "new") };
    let temporary = other.names.temporary("9", 1);
    bench.registry.set_tag(NAME, &temporary, &bench.pushed("new").manifest);
    let other = Uploaded { temporary, ..other };
    other.compare(&bench.cx(), &bench.options(), &about("other")).unwrap();
    assert!(bench.records().dir().join("record-1.json").is_file(), "the earlier one is kept");
}

#[test]
fn tags_of_uploads_that_came_to_no_end_are_removed_with_the_last_one() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    let killed: Vec<String> = (1..=2).map(|attempt| Names::new(TAG).temporary("99", attempt)).collect();
    for tag in &killed {
        let uploaded = Uploaded { temporary: tag.clone(), ..bench.uploaded("other", "new") };
        bench.registry.set_tag(NAME, tag, &bench.pushed("other").manifest);
        bench.pass();
        uploaded.compare(&bench.cx(), &bench.options(), &bench.records()).unwrap_err();
    }
    bench.publication("new");
    assert_eq!(bench.record().earlier, [killed[1].clone(), killed[0].clone()]);
    let report = bench.promote(Action::Begin).unwrap();
    assert_eq!(report.earlier, [Temporary::Removed, Temporary::Removed]);
    for tag in &killed {
        assert_eq!(bench.registry.digest_of(NAME, tag), None, "{tag}");
    }
    assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
}

#[test]
fn what_is_done_is_not_taken_back_and_what_was_begun_not_begun_again() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    assert!(matches!(bench.promote(Action::Begin), Err(Error::Begun { .. })));
    assert!(matches!(bench.roll_back(), Err(Error::Begun { .. })), "those are the records of a promotion");
    bench.promote(Action::Resume).unwrap();
    assert!(matches!(bench.promote(Action::Undo), Err(Error::Promoted { .. })));
    assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
    let again = bench.promote(Action::Resume).unwrap();
    assert!(again.moved.is_empty(), "once more changes nothing");
}

#[test]
fn a_promotion_that_is_over_moves_nothing_more() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    bench.promote(Action::Begin).unwrap();
    // A rollback, whose records are elsewhere.
    bench.move_by_hand(TAG, "one");
    for action in [Action::Resume, Action::Undo] {
        assert!(matches!(bench.promote(action), Err(Error::Over { .. })), "{action:?}");
        assert_eq!(bench.tags_now(), (Some("one"), Some("one")), "{action:?}");
    }
    half_way(&bench);
    bench.promote(Action::Undo).unwrap();
    let again = bench.promote(Action::Undo).unwrap();
    assert!(again.was_over && !again.promoted && again.moved.is_empty());
    assert!(matches!(bench.promote(Action::Resume), Err(Error::Over { .. })), "it was taken back");
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));
}

#[test]
fn nothing_goes_back_half_way_through_a_promotion() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    assert!(matches!(bench.roll_back_beside(), Err(Error::Begun { .. })));
    assert_eq!(bench.tags_now(), (Some("one"), Some("one")));
    bench.promote(Action::Undo).unwrap();
    bench.roll_back_beside().unwrap();
    assert_eq!(bench.tags_now(), (Some("zero"), Some("zero")));
    let refused = bench.promote(Action::Resume).unwrap_err();
    assert!(matches!(refused, Error::Over { .. }), "{refused}");

    // An image that was current once is not offered for promotion when it is left under its temporary tag.
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    bench.promote(Action::Begin).unwrap();
    bench.move_by_hand(TEMPORARY, "new");
    bench.roll_back_beside().unwrap();
    let now = bench.status();
    assert_eq!(now.temporary[0].image, Upload::Superseded);
    assert!(now.is_settled());
}

#[test]
fn a_rollback_that_others_went_on_from_is_not_pending() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.decide(|number, _| (number >= 4).then_some(Act::Cut));
    bench.roll_back().unwrap_err();
    bench.pass();
    assert_eq!(bench.tags_now(), (Some("zero"), Some("zero")), "it was moved, and nothing more is known");
    assert!(bench.status().begun[0].is_pending() && !bench.status().is_settled());
    bench.move_by_hand(TAG, "new");
    let now = bench.status();
    assert!(!now.begun[0].over && now.is_settled(), "{now:?}");
}

#[test]
fn what_is_left_of_a_promotion_is_done_after_a_rollback_too() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    bench.decide(|_, request| (request.method == "DELETE").then(|| Act::Answer(Reply::status(403))));
    assert!(!bench.promote(Action::Begin).unwrap().problems().is_empty(), "its temporary tag is left");
    bench.pass();
    bench.roll_back_beside().unwrap();
    assert!(bench.status().begun[0].is_pending());
    let report = bench.promote(Action::Resume).unwrap();
    assert!(report.was_over && report.moved.is_empty() && report.problems().is_empty(), "{report:?}");
    assert_eq!(bench.tags_now(), (Some("one"), Some("one")), "the rollback stays");
    assert_eq!(bench.registry.digest_of(NAME, TEMPORARY), None);
    assert!(bench.status().is_settled());
    assert!(matches!(bench.promote(Action::Resume), Err(Error::Over { .. })), "nothing is left");
}

#[test]
fn what_is_being_taken_back_is_not_turned_round() {
    let Some(bench) = Bench::start() else { return };
    half_way(&bench);
    bench.decide(|_, request| (request.method == "DELETE").then(|| Act::Answer(Reply::status(403))));
    let report = bench.promote(Action::Undo).unwrap();
    assert!(report.problems()[0].contains("`--resume` tries again"), "{report:?}");
    bench.pass();
    let report = bench.promote(Action::Resume).unwrap();
    assert!(!report.promoted && report.problems().is_empty(), "{report:?}");
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));

    // Nor before the tags are where they were.
    half_way(&bench);
    bench.decide(|_, request| moves(request, PREVIOUS).then_some(Act::Cut));
    bench.promote(Action::Undo).unwrap_err();
    bench.pass();
    let begun = bench.status().begun.remove(0);
    assert!(begun.taking_back && begun.outcome.is_none());
    assert!(!bench.promote(Action::Resume).unwrap().promoted);
    assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));

    // Unless the request that moves `current` was heard late: then there is nothing to take back.
    half_way(&bench);
    bench.decide(|_, request| moves(request, PREVIOUS).then_some(Act::Cut));
    bench.promote(Action::Undo).unwrap_err();
    bench.pass();
    bench.move_by_hand(TAG, "new");
    assert!(matches!(bench.promote(Action::Undo), Err(Error::Promoted { .. })));
    assert!(bench.promote(Action::Resume).unwrap().promoted);
    assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
}

#[test]
fn a_registry_that_deletes_images_with_all_their_tags_loses_none_that_counts() {
    let Some(bench) = Bench::start() else { return };
    for (current, previous, expected) in
        [(None, None, (Some("new"), None)), (Some("one"), Some("zero"), (Some("new"), Some("one")))]
    {
        bench.tags(current, previous);
        bench.publication("new");
        bench.deletes_images(true);
        let report = bench.promote(Action::Begin).unwrap();
        assert_eq!((bench.tags_now(), report.put_back.as_slice()), (expected, &[TAG.to_owned()][..]));
        assert!(report.problems().is_empty() && report.notes()[0].contains("put back"), "{report:?}");
        assert_eq!(report.temporary, Temporary::Removed);
    }
    // A run that was killed right after the deletion: the next one mends it, be it the same promotion or another.
    bench.deletes_images(false);
    for resumed in [true, false] {
        bench.tags(Some("one"), Some("zero"));
        bench.publication("new");
        bench.deletes_images_and_then_dies();
        bench.promote(Action::Begin).unwrap();
        assert_eq!(bench.tags_now(), (None, Some("one")), "the fault is there");
        bench.pass();
        if resumed {
            assert_eq!(bench.promote(Action::Resume).unwrap().put_back, [TAG.to_owned()]);
            assert_eq!(bench.tags_now(), (Some("new"), Some("one")));
        } else {
            bench.publication("other");
            bench.promote(Action::Begin).unwrap();
            assert_eq!(bench.tags_now(), (Some("other"), Some("new")));
        }
    }
    // Taking back the first `previous` deletes a tag of what is current.
    bench.tags(Some("one"), None);
    bench.publication("new");
    bench.decide(|_, request| moves(request, TAG).then_some(Act::Cut));
    bench.promote(Action::Begin).unwrap_err();
    bench.deletes_images(true);
    assert_eq!(bench.promote(Action::Undo).unwrap().put_back, [TAG.to_owned()]);
    assert_eq!(bench.tags_now(), (Some("one"), None));
}

#[test]
fn a_candidate_that_was_not_tested_is_not_promoted() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    bench.publication("new");
    let file = bench.records().file();
    let mut value: serde_json::Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
    for tested in [bench.pushed("other").config.clone().into(), serde_json::Value::Null] {
        value["tested"] = tested;
        fs_err::write(&file, value.to_string()).unwrap();
        let refused = bench.promote(Action::Begin).unwrap_err();
        assert!(matches!(&refused, Error::OtherRecords { found, .. } if found.contains("tested was")), "{refused}");
        assert_eq!(bench.tags_now(), (Some("one"), Some("zero")));
    }
}

#[test]
fn a_publication_follows_another_in_the_same_directory() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), Some("zero"));
    let aside = |number: u32| bench.records().dir().join(format!("record-{number}.json"));
    bench.publication("new");
    bench.promote(Action::Begin).unwrap();
    bench.publication("other");
    assert!(aside(1).is_file(), "what came to its end is kept");
    bench.promote(Action::Begin).unwrap();
    assert_eq!(bench.tags_now(), (Some("other"), Some("new")));

    // A registry that keeps the tag of the upload.
    bench.publication("one");
    bench.gate.decide(|_, _| pto_loopback::Act::Pass);
    assert!(matches!(bench.promote(Action::Begin).unwrap().temporary, Temporary::Unsupported { .. }));
    bench.publication("new");

    // One that can be finished stays where it is.
    bench.decide(|_, request| moves(request, TAG).then_some(Act::Cut));
    bench.promote(Action::Begin).unwrap_err();
    bench.pass();
    let again = || bench.uploaded("new", "new").compare(&bench.cx(), &bench.options(), &bench.records());
    assert!(matches!(again(), Err(Error::Begun { .. })));
    // Once somebody else has moved the tag, nothing can be done with it any more.
    bench.registry.set_tag(NAME, TAG, &bench.pushed("zero").manifest);
    assert!(matches!(bench.promote(Action::Resume), Err(Error::MovedByOther { .. })));
    again().unwrap();
    assert!(aside(4).is_file() && !aside(5).exists());
    bench.promote(Action::Begin).unwrap();
    assert_eq!(bench.tags_now(), (Some("new"), Some("zero")));
}

#[test]
fn there_is_nothing_to_go_back_to_before_the_second_image() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), None);
    bench.pass();
    let error = bench.roll_back().unwrap_err();
    assert!(matches!(&error, Error::NothingBefore { tag } if tag == PREVIOUS), "{error}");
}

#[test]
fn a_list_of_images_stays_one() {
    let Some(bench) = Bench::start() else { return };
    let list =
        push_list(&bench.registry, NAME, "list", &[(bench.pushed("one"), "arm64"), (bench.pushed("zero"), "amd64")]);
    bench.tags(None, None);
    let mut uploaded = bench.uploaded("new", "new");
    bench.registry.set_tag(NAME, TEMPORARY, &list);
    bench.pass();
    let refused = uploaded.compare(&bench.cx(), &bench.options(), &bench.records()).unwrap_err();
    assert!(matches!(refused, Error::NotTheTested { .. }), "{refused}");
    // An engine that keeps images as containerd does knows it by this digest.
    uploaded.tested.id = list.parse().unwrap();
    uploaded.tested.manifests = vec![list.parse().unwrap()];
    uploaded.compare(&bench.cx(), &bench.options(), &bench.records()).unwrap();
    let report = bench.promote(Action::Begin).unwrap();
    assert_eq!(bench.registry.digest_of(NAME, TAG).as_deref(), Some(list.as_str()));
    let platforms: Vec<_> = report.public.unwrap().platforms.iter().map(ToString::to_string).collect();
    assert_eq!(platforms, ["linux/arm64", "linux/amd64"]);
}

#[test]
fn what_was_not_tested_is_not_promoted() {
    let Some(bench) = Bench::start() else { return };
    bench.tags(Some("one"), None);
    bench.pass();
    for (uploaded, tested) in [("other", "new"), ("one", "new")] {
        let error =
            bench.uploaded(uploaded, tested).compare(&bench.cx(), &bench.options(), &bench.records()).unwrap_err();
        assert!(matches!(error, Error::NotTheTested { .. }), "{error}");
        assert!(matches!(bench.promote(Action::Begin), Err(Error::NotUploaded { .. })));
    }
    // The configuration is right, and the engine uploaded another manifest.
    let mut uploaded = bench.uploaded("new", "new");
    uploaded.tested.manifests = vec![bench.pushed("other").manifest.parse().unwrap()];
    assert!(uploaded.compare(&bench.cx(), &bench.options(), &bench.records()).is_err());
    assert_eq!(bench.tags_now(), (Some("one"), None));
}
