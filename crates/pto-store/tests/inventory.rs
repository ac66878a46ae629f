//! Listing, verifying and cleaning a store.

use std::path::Path;
use std::time::Duration;

use pto_context::Context;
use pto_store::{Error, Finding, GcOptions, Store};

fn cx() -> Context {
    Context::fake("/", [("A", "1")])
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store"));
    (dir, store)
}

fn build(store: &Store, kind: &str, key: &str) {
    let fill = |dir: &Path| {
        fs_err::create_dir(dir.join("sub")).unwrap();
        fs_err::write(dir.join("sub/a"), "abc").unwrap();
        fs_err::write(dir.join("b"), "defg").unwrap();
        Ok::<(), Error>(())
    };
    store.entry(kind, key).unwrap().get_or_build(&cx(), fill).unwrap();
}

#[test]
fn entries_are_listed_with_their_size() {
    let (_dir, store) = store();
    assert_eq!(store.items().unwrap(), []);
    build(&store, "wheels", "b-1");
    build(&store, "files", "a-1");
    let listed = store.items().unwrap();
    let shown: Vec<_> =
        listed.iter().map(|item| (item.kind.as_str(), item.key.as_str(), item.bytes, item.recorded)).collect();
    assert_eq!(shown, [("files", "a-1", 7, true), ("wheels", "b-1", 7, true)]);
}

#[test]
fn every_kind_of_damage_is_found() {
    let (_dir, store) = store();
    build(&store, "wheels", "b-1");
    let item = store.items().unwrap().remove(0);
    let look = || store.verify(&item).unwrap();
    assert_eq!(look(), Finding::Intact);
    fs_err::write(item.path.join("b"), "deFg").unwrap();
    assert_eq!(look(), Finding::Damaged(vec!["b".into()]));
    fs_err::remove_file(item.path.join("b")).unwrap();
    fs_err::write(item.path.join("new"), "").unwrap();
    assert_eq!(look(), Finding::Damaged(vec!["b".into(), "new".into()]));
    fs_err::remove_file(store.root().join("wheels/b-1~sha256")).unwrap();
    assert_eq!(look(), Finding::NotRecorded);
}

#[test]
fn an_entry_takes_its_sums_along() {
    let (_dir, store) = store();
    build(&store, "wheels", "b-1");
    store.entry("wheels", "b-1").unwrap().remove(&cx()).unwrap();
    assert_eq!(fs_err::read_dir(store.root().join("wheels")).unwrap().count(), 0);
}

#[test]
fn leftovers_are_removed_and_what_is_at_work_stays() {
    let (_dir, store) = store();
    build(&store, "wheels", "b-1");
    let kind = store.root().join("wheels");
    for left in [".building-x", ".building-busy", ".trash-1"] {
        fs_err::create_dir(kind.join(left)).unwrap();
    }
    fs_err::write(kind.join("gone~sha256"), "").unwrap();
    fs_err::create_dir_all(store.root().join(".downloads/fresh")).unwrap();
    let _busy = pto_store::Lock::try_acquire(&kind.join(".lock-busy")).unwrap().unwrap();
    let names = |options: GcOptions| {
        let removed = store.gc(&cx(), &options).unwrap();
        removed.iter().map(|one| one.path.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected = [".building-x", ".trash-1", "gone~sha256"];
    assert_eq!(names(GcOptions { dry_run: true, ..GcOptions::default() }), expected);
    assert_eq!(names(GcOptions::default()), expected);
    assert_eq!(names(GcOptions::default()), Vec::<String>::new());
    assert!(kind.join("b-1").is_dir() && kind.join(".building-busy").is_dir());
}

#[test]
fn only_recorded_entries_are_removed_for_their_age() {
    let (_dir, store) = store();
    build(&store, "wheels", "b-1");
    fs_err::create_dir_all(store.root().join("photos/holidays")).unwrap();
    let old = |seconds| GcOptions { older_than: Some(Duration::from_secs(seconds)), dry_run: false };
    assert_eq!(store.gc(&cx(), &old(3600)).unwrap(), []);
    let removed = store.gc(&cx(), &old(0)).unwrap();
    assert_eq!(removed.iter().map(|one| (one.bytes, one.why)).collect::<Vec<_>>(), [(7, "old")]);
    assert!(store.root().join("photos/holidays").is_dir());
    assert_eq!(store.entry("wheels", "b-1").unwrap().get(), None);
}
