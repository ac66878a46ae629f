//! Rough treatment: killed at any moment, many processes, a full disk, a read-only one. The store holds whole entries
//! or none.
#![expect(clippy::disallowed_methods, reason = "pto-process is on the same floor, so it cannot be used here")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use pto_context::Context;
use pto_store::{Entry, Error, Store};

/// How often the builder is killed.
const KILLS: u32 = 40;

/// How many files an entry has: enough to be in the middle of for a while.
const FILES: u32 = 400;

/// The example program, about to build an entry of [`FILES`] files.
fn tables(root: &Path, key: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/tables");
    assert!(example.exists(), "`{}` is missing: cargo build -p pto-store --examples", example.display());
    let mut command = Command::new(example);
    command.arg(root).arg(key).arg(FILES.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn entry(root: &Path, key: &str) -> Entry {
    Store::open(root).entry("tables", key).unwrap()
}

/// Everything in a directory of files.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs_err::read_dir(dir).unwrap().map(|item| item.unwrap());
    files.map(|file| (file.file_name().into(), fs_err::read(file.path()).unwrap())).collect()
}

/// What lies beside the entries: locks, builds under way, trash.
fn leftovers(root: &Path) -> Vec<String> {
    let names = fs_err::read_dir(root.join("tables")).unwrap().map(|item| item.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with('.')).collect()
}

fn words(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn killed_at_any_moment_the_store_stays_sound() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    // The quickest of three: a disk that is busy for others can hold one of them up for seconds.
    let timed = |key: &str| {
        let start = Instant::now();
        assert!(tables(root, key).output().unwrap().status.success());
        start.elapsed()
    };
    let whole_run = ["one", "two", "three"].map(timed).into_iter().min().unwrap();
    let whole = content(&entry(root, "one").path());
    assert_eq!(whole.len(), FILES as usize);

    let killed = entry(root, "killed");
    let cx = Context::fake("/", [("A", "1")]);
    let (mut amid, mut finished) = (0, 0);
    for kill in 0..KILLS {
        let mut child = tables(root, "killed").spawn().unwrap();
        // Spread over the whole run: a prime step visits early, middle and late moments in no order.
        std::thread::sleep(whole_run * (kill * 17 % KILLS) / KILLS);
        child.kill().unwrap();
        child.wait().unwrap();
        match killed.get() {
            Some(path) => {
                assert_eq!(content(&path), whole);
                finished += 1;
                killed.remove(&cx).unwrap();
            }
            None => amid += u32::from(root.join("tables/.building-killed").exists()),
        }
    }
    assert!(amid > 0, "no run was killed while it was building, {finished} had finished");

    assert!(tables(root, "killed").output().unwrap().status.success());
    assert_eq!(content(&killed.path()), whole);
    assert_eq!(leftovers(root), Vec::<String>::new());
}

#[test]
fn eight_processes_build_once() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..8).map(|_| tables(dir.path(), "key").spawn().unwrap()).collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{}", words(output));
    }
    assert_eq!(outputs.iter().filter(|output| words(output) == "building\n").count(), 1);
    assert_eq!(content(&entry(dir.path(), "key").path()).len(), FILES as usize);
    assert_eq!(leftovers(dir.path()), Vec::<String>::new());
}

#[test]
fn a_limit_on_file_sizes_is_reported_like_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    // The signal would end the process; ignored, the write fails.
    let line = r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#;
    let tables = tables(dir.path(), "key");
    let output =
        Command::new("sh").args(["-c", line]).arg(tables.get_program()).args(tables.get_args()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let words = words(&output);
    assert!(words.contains("no space left: cannot write under") && words.contains("File too large"), "{words}");
    assert!(words.contains("PTOKIT_HOME"), "{words}");
    assert_eq!(entry(dir.path(), "key").get(), None);
    assert_eq!(leftovers(dir.path()), Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_up_is_named_and_leaves_no_entry() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(dir.path(), "size=200k") else { return };
    let output = tables(dir.path(), "key").output().unwrap();
    let left = leftovers(dir.path());
    // Room again: the next run does it.
    disk.remount("size=64m");
    let again = tables(dir.path(), "key").output().unwrap();
    let there = entry(dir.path(), "key").get().map(|path| content(&path).len());
    drop(disk);

    let words = words(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(words.contains("no space left: cannot write under `") && words.contains("PTOKIT_HOME"), "{words}");
    assert_eq!(left, Vec::<String>::new());
    assert!(again.status.success(), "{again:?}");
    assert_eq!(there, Some(FILES as usize));
}

#[test]
fn a_read_only_store_serves_what_it_has_and_refuses_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    // Permissions do not bind root, a read-only file system does.
    let root = sh("test $(id -u) = 0", dir.path());
    let disk = if root { Disk::mount(dir.path(), "size=64m") } else { None };
    if root && disk.is_none() {
        return;
    }
    let cx = Context::fake("/", [("A", "1")]);
    let (there, missing) = (entry(dir.path(), "there"), entry(dir.path(), "missing"));
    let build = |dir: &Path| fs_err::write(dir.join("file"), "").map_err(|e| Error::write("cannot write", dir, e));
    there.get_or_build(&cx, build).unwrap();
    match &disk {
        Some(disk) => disk.remount("ro"),
        None => assert!(sh("chmod -R a-w .", dir.path())),
    }
    let served = there.get_or_build(&cx, build);
    let refused = missing.get_or_build(&cx, build);
    let kept = there.remove(&cx);
    if disk.is_none() {
        assert!(sh("chmod -R u+w .", dir.path()));
    }

    assert_eq!(served.unwrap(), there.path());
    let error = refused.unwrap_err();
    let expected = format!("`{}` is not in the store, and the store cannot be written", missing.path().display());
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().unwrap().contains("PTOKIT_HOME"));
    kept.unwrap_err();
}

/// A small file system of its own, for root alone.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    /// `None` if nothing can be mounted here. Says so.
    fn mount(at: &'a Path, options: &str) -> Option<Self> {
        if sh(&format!("mount -t tmpfs -o {options} none ."), at) {
            return Some(Self(at));
        }
        pto_test::absent("no file system can be mounted here (needs root)");
        None
    }

    #[track_caller]
    fn remount(&self, options: &str) {
        assert!(sh(&format!("mount -o remount,{options} ."), self.0));
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        sh("umount -l .", self.0);
    }
}

fn sh(script: &str, dir: &Path) -> bool {
    Command::new("sh").args(["-c", script]).current_dir(dir).stderr(Stdio::null()).status().unwrap().success()
}
