//! One user per device, over processes and over users.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use pto_context::Context;
use pto_quarantine::{Attempt, DeviceLock, Error, Holder, Quarantine};

fn place() -> (tempfile::TempDir, Quarantine) {
    let dir = tempfile::tempdir().unwrap();
    let cx = Context::fake("/", [("PTOKIT_QUARANTINE", dir.path().join("shared"))]);
    (dir, Quarantine::of(&cx))
}

fn holder(command: &str) -> Holder {
    Holder::this_process(Some("ada".into()), command, SystemTime::UNIX_EPOCH + Duration::from_secs(100))
}

fn taken(attempt: Attempt) -> DeviceLock {
    match attempt {
        Attempt::Taken(lock) => lock,
        Attempt::Held(holder) => panic!("held by {holder:?}"),
    }
}

#[test]
fn one_at_a_time_and_the_other_learns_who() {
    let (_dir, state) = place();
    let lock = taken(state.try_lock(3, &holder("kernel test")).unwrap());
    assert_eq!(lock.device(), 3);
    let Attempt::Held(Some(who)) = state.try_lock(3, &holder("another")).unwrap() else { panic!() };
    assert_eq!(who.to_string(), format!("process {} of ada (`kernel test`)", std::process::id()));
    assert_eq!(who.seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(160)), 60);
    taken(state.try_lock(4, &holder("another")).unwrap());
    drop(lock);
    let second = taken(state.try_lock(3, &holder("another")).unwrap());
    let Attempt::Held(Some(who)) = state.try_lock(3, &holder("a third")).unwrap() else { panic!() };
    assert_eq!(who.command, "another");
    drop(second);
}

#[test]
fn everyone_may_lock_and_nobody_may_remove() {
    let (_dir, state) = place();
    drop(taken(state.try_lock(0, &holder("x")).unwrap()));
    let mode = |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(state.dir()), 0o1777);
    assert_eq!(mode(&state.dir().join("davinci0.lock")), 0o666);
}

#[test]
fn a_file_that_cannot_be_written_still_locks() {
    let (_dir, state) = place();
    drop(taken(state.try_lock(0, &holder("x")).unwrap()));
    let path = state.dir().join("davinci0.lock");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let lock = taken(state.try_lock(0, &holder("y")).unwrap());
    assert!(matches!(state.try_lock(0, &holder("z")).unwrap(), Attempt::Held(_)));
    drop(lock);
}

#[test]
fn garbage_and_links_in_its_place() {
    let (dir, state) = place();
    let lock = taken(state.try_lock(0, &holder("x")).unwrap());
    fs_err::write(state.dir().join("davinci0.lock"), "\u{1b}[31m{").unwrap();
    assert!(matches!(state.try_lock(0, &holder("y")).unwrap(), Attempt::Held(None)));
    drop(lock);

    std::os::unix::fs::symlink(dir.path().join("elsewhere"), state.dir().join("davinci1.lock")).unwrap();
    assert!(matches!(state.try_lock(1, &holder("y")), Err(Error::Lock { device: 1, .. })));
    assert!(!dir.path().join("elsewhere").exists(), "no link is followed");
}

#[test]
fn a_lock_on_a_deleted_file_is_none() {
    let (_dir, state) = place();
    drop(taken(state.try_lock(0, &holder("x")).unwrap()));
    fs_err::remove_file(state.dir().join("davinci0.lock")).unwrap();
    let lock = taken(state.try_lock(0, &holder("y")).unwrap());
    assert!(matches!(state.try_lock(0, &holder("z")).unwrap(), Attempt::Held(Some(_))));
    drop(lock);
}

/// Where the system lets anybody link to any file, the lock's name may be one of a file that is worth something.
#[test]
fn a_file_with_another_name_locks_and_is_not_written() {
    let (dir, state) = place();
    drop(taken(state.try_lock(0, &holder("x")).unwrap()));
    let mine = dir.path().join("mine");
    fs_err::write(&mine, "worth something").unwrap();
    fs_err::hard_link(&mine, state.dir().join("davinci1.lock")).unwrap();
    let lock = taken(state.try_lock(1, &holder("y")).unwrap());
    assert!(matches!(state.try_lock(1, &holder("z")).unwrap(), Attempt::Held(None)));
    drop(lock);
    assert_eq!(fs_err::read_to_string(&mine).unwrap(), "worth something");
}

#[test]
fn what_cannot_be_locked_says_what_to_do() {
    let (_dir, state) = place();
    drop(taken(state.try_lock(0, &holder("x")).unwrap()));
    fs_err::create_dir(state.dir().join("davinci1.lock")).unwrap();
    let refused = state.try_lock(1, &holder("y")).unwrap_err();
    assert!(refused.hint().unwrap().contains("`PTOKIT_QUARANTINE`"), "{refused}");
}

#[test]
fn locks_are_no_records() {
    let (_dir, state) = place();
    let _lock = taken(state.try_lock(0, &holder("x")).unwrap());
    assert_eq!(state.standing(SystemTime::now()), pto_quarantine::Standing::default());
}
