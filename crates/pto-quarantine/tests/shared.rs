//! The state as several processes see it, and as somebody may have left it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use pto_context::Context;
use pto_quarantine::{DEFAULT_TERM, Error, Quarantine, Standing};

fn at(dir: &Path) -> Quarantine {
    Quarantine::of(&Context::fake("/", [("PTOKIT_QUARANTINE", dir.join("q"))]))
}

#[test]
fn reading_touches_nothing_and_writing_opens_the_place_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let quarantine = at(dir.path());
    assert!(quarantine.standing(SystemTime::now()).records.is_empty());
    assert!(!quarantine.dir().exists());
    let record = quarantine.put(7, "hung", DEFAULT_TERM, SystemTime::now()).unwrap();
    assert_eq!((record.pid, record.device), (std::process::id(), 7));
    assert_eq!(fs_err::metadata(quarantine.dir()).unwrap().permissions().mode() & 0o7777, 0o1777);
}

#[test]
fn a_device_is_free_when_no_record_counts_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (at(dir.path()), at(dir.path()));
    let now = SystemTime::now();
    one.put(3, "short", Duration::from_secs(10), now).unwrap();
    other.put(3, "long", Duration::from_secs(100), now).unwrap();
    other.put(31, "another device", Duration::from_secs(100), now).unwrap();
    let why = |at: SystemTime| one.standing(at).of(3).map(|record| record.why.clone()).collect::<Vec<_>>();
    assert_eq!(why(now).len(), 2);
    assert_eq!(why(now + Duration::from_secs(50)), ["long"]);
    // Writing sweeps what expired.
    one.put(4, "x", DEFAULT_TERM, now + Duration::from_secs(50)).unwrap();
    assert_eq!(fs_err::read_dir(one.dir()).unwrap().count(), 3);
    assert_eq!(one.release(3).unwrap().len(), 1);
    assert!(!other.standing(now).is_set_aside(3) && other.standing(now).is_set_aside(31));
    assert_eq!(one.release(3).unwrap(), [], "releasing twice is no error");
}

#[test]
fn what_cannot_be_read_sets_its_device_aside() {
    let dir = tempfile::tempdir().unwrap();
    let quarantine = at(dir.path());
    let now = SystemTime::now();
    quarantine.put(0, "x", DEFAULT_TERM, now).unwrap();
    let put = |name: &str| quarantine.dir().join(name);
    fs_err::write(put("davinci1-a.json"), "{half").unwrap();
    fs_err::write(put("davinci2-a.json"), [0xff; 100_000]).unwrap();
    fs_err::os::unix::fs::symlink("/etc/passwd", put("davinci3-a.json")).unwrap();
    fs_err::create_dir(put("davinci4-a.json")).unwrap();
    let fifo = rustix::fs::CWD;
    rustix::fs::mknodat(fifo, put("davinci5-a.json"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for other in ["readme.txt", "davinci-a.json", "davinci6-x.part"] {
        fs_err::write(put(other), "").unwrap();
    }
    let standing = quarantine.standing(now);
    let unread: Vec<_> = standing.unread.iter().map(|file| file.device).collect();
    assert_eq!(unread, [1, 2, 3, 4, 5]);
    assert!(standing.is_set_aside(5) && !standing.is_set_aside(6));
    quarantine.release(1).unwrap();
    assert!(!quarantine.standing(now).is_set_aside(1));
    assert!(matches!(quarantine.release(4), Err(Error::Release { device: 4, .. })), "a directory is nobody's record");
}

/// Released by the device that it sets aside, it would never be found.
#[test]
fn a_record_of_another_device_than_its_name_says_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let quarantine = at(dir.path());
    let now = SystemTime::now();
    quarantine.put(3, "x", DEFAULT_TERM, now).unwrap();
    let file = fs_err::read_dir(quarantine.dir()).unwrap().next().unwrap().unwrap().path();
    fs_err::rename(file, quarantine.dir().join("davinci5-x.json")).unwrap();
    let standing = quarantine.standing(now);
    assert!(standing.is_set_aside(5) && !standing.is_set_aside(3));
    assert_eq!(standing.unread[0].why, "is a record of device 3, expected 5");
    quarantine.release(5).unwrap();
    assert_eq!(quarantine.standing(now), Standing::default());
}

#[test]
fn a_name_that_writes_across_a_terminal_is_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let quarantine = at(dir.path());
    quarantine.put(3, "x", DEFAULT_TERM, SystemTime::now()).unwrap();
    for name in ["davinci0-\n.json", "davinci0-\u{1b}[2J.json"] {
        fs_err::write(quarantine.dir().join(name), "{").unwrap();
    }
    assert_eq!(quarantine.standing(SystemTime::now()).unread, []);
}

/// Whoever is ended at any moment while the directory is made leaves none, or one for all.
#[test]
fn the_directory_is_there_with_its_mode_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mode = || fs_err::metadata(dir.path().join("q")).map(|found| found.permissions().mode() & 0o7777);
    std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !stop.load(Ordering::Relaxed) {
                seen.extend(mode());
            }
            seen
        });
        for _ in 0..200 {
            at(dir.path()).put(0, "x", DEFAULT_TERM, SystemTime::now()).unwrap();
            fs_err::remove_dir_all(dir.path().join("q")).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        assert!(seen.join().unwrap().iter().all(|mode| *mode == 0o1777));
    });
    assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0, "no draft is left");
}

#[test]
fn a_directory_that_cannot_be_listed_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let quarantine = at(dir.path());
    quarantine.put(3, "x", DEFAULT_TERM, SystemTime::now()).unwrap();
    let set_mode = |path: &Path, mode| fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(dir.path(), 0o755);
    set_mode(quarantine.dir(), 0o1333);
    // Root lists every directory, so a thread of this test is nobody from here on.
    let as_nobody = || {
        let nobody = rustix::process::Uid::from_raw(65534);
        let _ = rustix::thread::set_thread_res_uid(nobody, nobody, nobody);
        quarantine.standing(SystemTime::now())
    };
    let standing = std::thread::scope(|scope| scope.spawn(as_nobody).join().unwrap());
    set_mode(quarantine.dir(), 0o1777);
    let why = standing.unlisted.unwrap();
    assert!(why.ends_with("cannot be listed: permission denied"), "{why}");
}

#[test]
fn a_link_in_place_of_the_directory_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    fs_err::create_dir(dir.path().join("elsewhere")).unwrap();
    fs_err::os::unix::fs::symlink("elsewhere", dir.path().join("q")).unwrap();
    let quarantine = at(dir.path());
    let refused = quarantine.put(0, "x", DEFAULT_TERM, SystemTime::now()).unwrap_err();
    assert!(matches!(refused, Error::NotADirectory { .. }) && refused.hint().is_some(), "{refused}");
    assert_eq!(fs_err::read_dir(dir.path().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn many_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    std::thread::scope(|scope| {
        for device in 0..16 {
            let quarantine = at(dir.path());
            scope.spawn(move || quarantine.put(device % 4, "hung", DEFAULT_TERM, now).unwrap());
        }
    });
    assert_eq!(at(dir.path()).standing(now).records.len(), 16);
}
