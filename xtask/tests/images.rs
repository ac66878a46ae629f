//! Publishing for real: a Docker engine, a registry that wants a password, `skopeo` as a witness who knows nothing of us, and
//! KILL at every request.

#![allow(clippy::print_stdout, reason = "the figures that the documentation has")]

mod publishing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pto_loopback::{Act, Reply};
use publishing::{Built, Found, PREVIOUS, Publishing, Ran, TAG};
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn images_become_current_and_go_back_as_a_witness_sees_it() {
    let Some(it) = Publishing::start("flow") else { return };
    let one = it.image("one");
    it.publish(&one, 1).passed();
    assert_eq!(it.witness(TAG).as_deref(), Some(one.id.as_str()));
    assert_eq!(it.witness(PREVIOUS), None, "the first publication makes no previous version");

    let two = it.image("two");
    it.publish(&two, 2).passed();
    assert_eq!((it.witness(TAG), it.witness(PREVIOUS)), (Some(two.id.clone()), Some(one.id.clone())));
    it.publish(&two, 3).passed();
    assert_eq!((it.witness(TAG), it.witness(PREVIOUS)), (Some(two.id.clone()), Some(one.id.clone())), "the same again");
    assert_eq!(it.tags(), [TAG, PREVIOUS], "no temporary tag is left");

    let status = it.run(&["status", "x86-a5"], "3").passed();
    assert!(status.contains(&format!("\"config\": \"{}\"", two.id)), "{status}");
    let all: serde_json::Value = serde_json::from_str(&it.run(&["status"], "").stdout).unwrap();
    let current = |name: &str| {
        let images = all["images"].as_array().unwrap();
        images.iter().find(|image| image["name"] == name).map(|image| image["current"]["config"].clone())
    };
    assert_eq!(current("x86-a5"), Some(two.id.as_str().into()), "{all}");
    assert_eq!(current("arm-a5"), Some(serde_json::Value::Null), "nothing was published: {all}");
    assert_eq!(current("x86-a2a3"), None, "it is not enabled: {all}");
    assert_eq!(it.run(&["status"], "3").code, Some(2), "one directory has records of one image");
    it.run(&["rollback", "x86-a5"], "rollback").passed();
    assert_eq!((it.witness(TAG), it.witness(PREVIOUS)), (Some(one.id.clone()), Some(one.id.clone())));
    it.run(&["rollback", "x86-a5"], "rollback").passed();
    it.publish(&two, 4).passed();
    assert_eq!((it.witness(TAG), it.witness(PREVIOUS)), (Some(two.id), Some(one.id)));
}

#[test]
fn a_registry_that_removes_no_tags_is_published_to_with_a_note() {
    let Some(it) = Publishing::start("keeps") else { return };
    it.delete_nothing();
    let image = it.image("one");
    let said = it.publish(&image, 1).passed();
    assert!(said.contains("does not delete tags by name") && said.contains("\"problems\": []"), "{said}");
    assert_eq!(it.witness(TAG).as_deref(), Some(image.id.as_str()));
    let left: Vec<String> = it.tags().into_iter().filter(|tag| tag != TAG).collect();
    assert!(left.len() == 1 && said.contains(&format!("`{}` is left", left[0])), "{left:?}: {said}");
}

#[test]
fn one_publication_follows_another_with_the_usual_records() {
    let Some(it) = Publishing::start("usual") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish_as_usual(&one, 1).passed();
    // What uploads left that were killed goes, and nothing else of the same repository.
    for tag in ["x86-a5-cann9.2-dist-77-1", "x86-a5-cann9.2-dist-77-2", "x86-a5-cann9.2-dist-mine"] {
        it.name_here(&one, tag);
    }
    it.publish_as_usual(&two, 2).passed();
    assert_eq!(it.names_here(), ["x86-a5-cann9.2-dist-mine"]);
    it.forget_here("x86-a5-cann9.2-dist-mine");
    assert_eq!((it.witness(TAG), it.witness(PREVIOUS)), (Some(two.id.clone()), Some(one.id.clone())));
    // Somebody else moves the tag while one is on its way.
    let (registry, name, manifest) = (it.registry.clone(), it.name(), it.manifest(PREVIOUS).unwrap());
    it.decide(move |_, request| {
        if request.method == "PUT" && request.path.ends_with(&format!("/manifests/{PREVIOUS}")) {
            registry.set_tag(&name, TAG, &manifest);
        }
        None
    });
    let three = it.image("three");
    let ran = it.publish_as_usual(&three, 3);
    assert!(ran.code == Some(1) && ran.stdout.contains("somebody else published meanwhile"), "{ran:?}");
    it.pass();
    it.publish_as_usual(&three, 4).passed();
    assert_eq!(it.witness(TAG), Some(three.id));
}

#[test]
fn what_was_not_tested_is_not_published() {
    let Some(it) = Publishing::start("untested") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish(&one, 1).passed();
    let refused = |what: &str, words: &str| {
        let ran = it.publish(&two, 2);
        assert!(ran.code != Some(0) && ran.stdout.contains(words), "{what}: {ran:?}");
        assert_eq!((it.witness(TAG).as_deref(), it.tags().len()), (Some(one.id.as_str()), 1), "{what}");
    };
    it.results(&two, |results| results["cases"][1]["status"] = "failed".into());
    refused("a case failed", "`single` did not pass");
    it.results(&two, |results| drop(results["cases"].as_array_mut().unwrap().pop()));
    refused("a case is missing", "not all of");
    it.results(&two, |results| results["settings"]["single"][0] = "easy.py".into());
    refused("another script", "their script for one card is `easy.py");
    it.results(&two, |results| results["driver"] = "26.0.rc1".into());
    refused("another driver", "are of driver");
    it.results(&two, |results| results["id"] = format!("sha256:{}", "0".repeat(64)).into());
    refused("not here", "is not on this machine");
    let other = it.publish(&it.image_of("other", &"0".repeat(40)), 2);
    assert!(other.code == Some(1) && other.stdout.contains("the plan has"), "built from another recipe: {other:?}");
    it.results(&two, |_| {});
    // Somebody puts another image under the temporary tag, after the upload and before it is read.
    let (registry, name, manifest) = (it.registry.clone(), it.name(), it.manifest(TAG).unwrap());
    it.decide(move |_, request| {
        if request.method == "GET" && request.path.ends_with("/manifests/x86-a5-cann9.2-dist-2-1") {
            registry.set_tag(&name, "x86-a5-cann9.2-dist-2-1", &manifest);
        }
        None
    });
    let ran = it.publish(&two, 2);
    assert!(ran.stdout.contains("tested was"), "{ran:?}");
    assert_eq!(it.witness(TAG).as_deref(), Some(one.id.as_str()));
    it.pass();
    it.registry.delete_tag(&it.name(), "x86-a5-cann9.2-dist-2-1");
    it.newer_recipe();
    refused("a newer recipe", "is not the newest");
    it.no_upstream();
    refused("no upstream", "cannot find out");
}

#[test]
fn a_promotion_that_stops_half_way_says_how_to_go_on() {
    let Some(it) = Publishing::start("half-way") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish_as_usual(&one, 1).passed();
    it.decide(|_, request| {
        (request.method == "PUT" && request.path.ends_with(&format!("/manifests/{TAG}")))
            .then(|| Act::Answer(Reply::status(403)))
    });
    let stopped = it.publish_as_usual(&two, 2);
    let expected = "images promote x86-a5 --resume";
    assert!(stopped.code == Some(3) && stopped.stdout.contains(expected), "{stopped:?}");
    it.pass();
    assert_eq!(it.publish_as_usual(&two, 3).code, Some(2), "as it is not begun again");
    it.run(&["promote", "x86-a5", "--resume"], "").passed();
    assert_eq!(it.witness(TAG), Some(two.id));
}

/// KILL when a request arrives, before it is heard and after: every request of an upload, and of a promotion.
#[test]
fn killed_at_any_request_the_next_run_comes_to_the_right_end() {
    let Some(it) = Publishing::start("killed") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish(&one, 1).passed();
    it.remember();
    killed_at_each(&it, "upload", [&one, &two], |at| at % 2 == 0, || it.upload_only(&two, 2));
    it.reset();
    it.pass();
    it.upload_only(&two, 2).passed();
    it.remember();
    for heard in [false, true] {
        let what = format!("promotion, heard: {heard}");
        killed_at_each(&it, &what, [&one, &two], |_| heard, || it.run(&["promote", "x86-a5"], "2"));
    }
    assert_eq!(it.leftovers(), Vec::<String>::new());
}

fn killed_at_each(
    it: &Publishing,
    what: &str,
    [one, two]: [&Built; 2],
    heard: impl Fn(usize) -> bool,
    run: impl Fn() -> Ran,
) {
    for at in 0.. {
        it.reset();
        let killed = it.kill_at(at, heard(at));
        let ran = run();
        it.gate.settle();
        if !killed.load(Ordering::SeqCst) {
            ran.passed();
            println!("killed at each of {at} requests of the {what}");
            return;
        }
        let (context, [one, two]) = (format!("{what}, at {at}"), [one, two].map(|image| Some(image.id.clone())));
        let (current, previous) = (it.config(TAG), it.config(PREVIOUS));
        assert!(current == one || (current == two && previous == one), "{context}: {current:?}, {previous:?}");
        it.pass();
        it.go_on(&Built { id: two.clone().unwrap() }, 2).passed();
        assert_eq!((it.config(TAG), it.config(PREVIOUS)), (two, one), "{context}");
        assert_eq!(it.tags(), [TAG, PREVIOUS], "{context}");
    }
}

/// Faults at the requests of the upload, which are the engine's and not ours. It repeats some of them, after seconds, so each
/// request has one fault here and all of them with `PTOKIT_ALL_FAULTS`.
#[test]
fn a_fault_while_the_engine_uploads_changes_nothing() {
    let Some(it) = Publishing::start("upload") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish(&one, 1).passed();
    it.remember();
    it.pass();
    it.upload_only(&two, 2).passed();
    let requests = it.gate.seen().len();
    let all = pto_test::machine().var("PTOKIT_ALL_FAULTS").is_some();
    let faults: [fn() -> Act; 8] = [
        || Act::Cut,
        || Act::CutAnswer,
        || Act::Answer(Reply::status(401)),
        || Act::Answer(Reply::status(404)),
        || Act::Answer(Reply::status(429)),
        || Act::Answer(Reply::status(500)),
        || Act::Truncate(7),
        || Act::Shorten(7),
    ];
    let mut runs = 0;
    for (at, kind) in (0..requests).flat_map(|at| (0..faults.len()).map(move |kind| (at, kind))) {
        if !all && kind != at % faults.len() {
            continue;
        }
        runs += 1;
        it.reset();
        it.decide(move |number, _| (number == at).then(|| faults[kind]()));
        let ran = it.upload_only(&two, 2);
        it.gate.settle();
        let context = format!("fault {kind} at request {at} of {requests}: {ran:?}");
        assert_eq!((it.config(TAG), it.config(PREVIOUS)), (Some(one.id.clone()), None), "{context}");
        it.pass();
        it.publish(&two, 2).passed();
        assert_eq!((it.config(TAG), it.config(PREVIOUS)), (Some(two.id.clone()), Some(one.id.clone())), "{context}");
    }
    println!("upload: {requests} requests, {runs} runs with a fault");
}

#[test]
fn secrets_appear_nowhere() {
    let Some(it) = Publishing::start("secrets") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    let found = Found::default();
    it.watch(&found);
    it.publish(&one, 1).passed();
    it.publish(&two, 2).passed();
    it.run(&["rollback", "x86-a5"], "rollback").passed();
    it.run(&["status", "x86-a5"], "2");
    // And where it fails.
    it.wrong_password(|| {
        let ran = it.publish(&two, 3);
        assert_eq!(ran.code, Some(3), "{ran:?}");
    });
    assert!(found.looks() > 40, "the command lines of all processes were looked at {} times only", found.looks());
    assert_eq!(found.hits(), Vec::<String>::new());
    assert_eq!(it.leftovers(), Vec::<String>::new());
    it.search_everything();
}

#[test]
fn records_of_something_else_move_nothing_and_tell_nobody_a_password() {
    let Some(it) = Publishing::start("others") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish(&one, 1).passed();
    it.upload_only(&two, 2).passed();
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let elsewhere = format!("{}/a/b", stranger.local_addr().unwrap());
    let file = it.record("2");
    let text = fs_err::read_to_string(&file).unwrap();
    let of = |key: &str, value: &str| {
        let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
        record[key] = value.into();
        record.to_string()
    };
    let newer = text.replace("ptokit.images-record/1", "ptokit.images-record/9");
    for (content, expected) in [
        (of("image", "arm-a5"), "its image is `arm-a5`, expected `x86-a5`"),
        (of("tag", "a3-dist"), "its tag is `a3-dist`, expected `x86-a5-cann9.2-dist`"),
        (of("repository", &elsewhere), "its repository is `127.0.0.1:"),
        (of("temporary", PREVIOUS), "is not the tag of an upload of `x86-a5-cann9.2-dist`"),
        (newer, "its schema is `ptokit.images-record/9`, expected `ptokit.images-record/1`"),
        ("{".to_owned(), "it is not JSON: "),
        (String::new(), "it is not JSON: "),
        ("null".to_owned(), "it has no `schema`"),
    ] {
        fs_err::write(&file, content).unwrap();
        for args in [&["promote", "x86-a5"][..], &["promote", "x86-a5", "--resume"], &["status", "x86-a5"]] {
            let ran = it.run(args, "2");
            assert_eq!(ran.code, Some(2), "{expected}: {ran:?}");
            assert!(ran.stdout.contains(expected) && ran.stdout.contains("\"hint\""), "{expected}: {ran:?}");
        }
    }
    // A pipe in its place is nothing to wait for.
    fs_err::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let ran = it.run(&["promote", "x86-a5"], "2");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    fs_err::remove_file(&file).unwrap();
    assert_eq!((it.config(TAG), it.config(PREVIOUS)), (Some(one.id), None));
    assert_eq!(stranger.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "the stranger was asked");

    // As it was, it is finished, once.
    fs_err::write(&file, text).unwrap();
    let unfinished = it.run(&["status", "x86-a5"], "2");
    assert_eq!(unfinished.code, Some(1), "{unfinished:?}");
    it.run(&["promote", "x86-a5"], "2").passed();
    assert_eq!(it.config(TAG), Some(two.id));
    let over = it.run(&["promote", "x86-a5"], "2");
    assert!(over.code == Some(2) && over.stdout.contains("has come to its end"), "{over:?}");
}

#[test]
fn two_at_once_do_not_run() {
    let Some(it) = Publishing::start("two") else { return };
    let (one, two) = (it.image("one"), it.image("two"));
    it.publish(&one, 1).passed();
    it.upload_only(&two, 2).passed();
    let inner = Arc::new(std::sync::Mutex::new(None));
    let second = it.second(["promote", "x86-a5"], "2");
    let (seen, once) = (inner.clone(), AtomicBool::new(false));
    it.decide(move |_, _| {
        if !once.swap(true, Ordering::SeqCst) {
            *seen.lock().unwrap() = Some(second.run());
        }
        None
    });
    it.run(&["promote", "x86-a5"], "2").passed();
    let ran = inner.lock().unwrap().take().unwrap();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("another process is moving the tags"), "{ran:?}");
}

impl Publishing {
    /// Kills the run when the request of this number arrives; whether that happened.
    fn kill_at(&self, at: usize, heard: bool) -> Arc<AtomicBool> {
        let killed = Arc::new(AtomicBool::new(false));
        let (flag, pid): (_, Arc<AtomicU32>) = (killed.clone(), self.pid.clone());
        self.decide(move |number, _| {
            if number != at {
                return None;
            }
            let pid = i32::try_from(pid.load(Ordering::SeqCst)).ok().and_then(Pid::from_raw);
            let _ = kill_process(pid.expect("the run was started"), Signal::KILL);
            flag.store(true, Ordering::SeqCst);
            Some(if heard { Act::CutAnswer } else { Act::Cut })
        });
        killed
    }
}
