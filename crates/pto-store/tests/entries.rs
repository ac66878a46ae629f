//! Entries: whole or not there, built once, also by many threads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pto_context::{Context, Event, Recorder};
use pto_store::{Error, Store};

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
    let kept = vec!["key".to_owned(), "key~sha256".to_owned()];
    assert_eq!((names(&path), names(&kind)), (vec!["file".to_owned()], kept));
}

#[test]
fn eight_threads_build_once_and_whoever_waits_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (builds, events) = (AtomicUsize::new(0), Arc::new(Recorder::default()));
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
    let events = events.events();
    let waiting = events.iter().filter(|event| matches!(event, Event::Started { task, .. } if task == "wait:kind/key"));
    assert_eq!(waiting.count(), 7);
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
