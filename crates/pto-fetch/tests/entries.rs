//! Entries: whole or not there, built once, also by many at once.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pto_context::{Context, Event};
use pto_fetch::{Error, Store};
use pto_process::Invocation;
use support::{Keep, World, machine, skipped};

fn cx() -> Context {
    Context::fake("/", [("A", "1")])
}

fn fill(dir: &Path) -> Result<(), Error> {
    fs_err::write(dir.join("file"), "whole").unwrap();
    Ok(())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs_err::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_build_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let entry = Store::open(dir.path()).entry("kind", "key").unwrap();
    let result = entry.get_or_build(&cx(), |tmp| {
        fs_err::write(tmp.join("half"), "").unwrap();
        Err::<(), _>(Error::NoHome)
    });
    assert!(matches!(result, Err(Error::NoHome)));
    assert_eq!((entry.get(), names(&dir.path().join("kind"))), (None, vec![]));
    assert!(entry.get_or_build(&cx(), fill).is_ok());
}

#[test]
fn what_dead_processes_left_is_cleaned() {
    let dir = tempfile::tempdir().unwrap();
    let kind = dir.path().join("kind");
    for left in [".building-key/half", ".building-other/half", ".trash-1-1/half"] {
        fs_err::create_dir_all(kind.join(left)).unwrap();
    }
    fs_err::write(kind.join(".lock-key"), "").unwrap();
    let path = Store::open(dir.path()).entry("kind", "key").unwrap().get_or_build(&cx(), fill).unwrap();
    assert_eq!((names(&path), names(&kind)), (vec!["file".to_owned()], vec!["key".to_owned()]));
}

#[test]
fn eight_threads_build_once_and_whoever_waits_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (builds, events) = (AtomicUsize::new(0), Arc::new(Keep::default()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let entry = Store::open(dir.path()).entry("kind", "key").unwrap();
                let cx = cx().with_events(events.clone());
                let path = entry.get_or_build(&cx, |tmp| {
                    builds.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(1500));
                    fill(tmp)
                });
                assert_eq!(fs_err::read(path.unwrap().join("file")).unwrap(), b"whole");
            });
        }
    });
    assert_eq!(builds.load(Ordering::SeqCst), 1);
    let events = events.0.lock().unwrap();
    let waiting = events.iter().filter(|event| matches!(event, Event::Started { task, .. } if task == "wait:kind/key"));
    assert_eq!(waiting.count(), 7);
}

#[test]
fn eight_processes_fetch_once() {
    let world = World::new(50);
    world.pip_stub();
    let cx = world.cx().with_var("STUB_WAIT", "0.3");
    let started: Vec<_> = (0..8).map(|_| world.example(&world.path("store")).start(&cx).unwrap()).collect();
    for running in started {
        let output = running.wait().unwrap();
        assert!(output.success(), "{}", output.last_words(10));
    }
    assert!(world.whole(50));
    assert_eq!(world.stub_log().len(), 1);
    world.assert_tidy();
}

#[test]
fn a_removed_entry_is_gone_and_can_be_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let entry = Store::open(dir.path()).entry("kind", "key").unwrap();
    entry.remove(&cx()).unwrap();
    entry.get_or_build(&cx(), fill).unwrap();
    entry.remove(&cx()).unwrap();
    assert_eq!((entry.get(), names(&dir.path().join("kind"))), (None, vec![]));
    assert!(entry.get_or_build(&cx(), fill).is_ok());
}

#[test]
fn a_read_only_store_serves_what_it_has_and_refuses_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path());
    let sh = |script: &str| {
        let output = Invocation::new("sh").args(["-c", script]).cwd(dir.path()).run(&machine()).unwrap();
        output.success()
    };
    // Permissions do not bind root, a read-only file system does.
    let root = sh("test $(id -u) = 0");
    if root && !sh("mount -t tmpfs none .") {
        return skipped("running as root, and no file system can be mounted to make it read-only");
    }
    let there = store.entry("kind", "there").unwrap();
    there.get_or_build(&cx(), fill).unwrap();
    assert!(sh(if root { "mount -o remount,ro ." } else { "chmod -R a-w ." }));

    let served = there.get_or_build(&cx(), fill);
    let refused = store.entry("kind", "missing").unwrap().get_or_build(&cx(), fill);
    assert!(sh(if root { "umount -l ." } else { "chmod -R u+w ." }));
    assert_eq!(served.unwrap(), there.path());
    let error = refused.unwrap_err();
    let missing = dir.path().join("kind/missing");
    assert_eq!(
        error.to_string(),
        format!("`{}` is not in the store, and the store cannot be written", missing.display())
    );
    assert!(error.hint().unwrap().contains("PTOKIT_HOME"));
}
