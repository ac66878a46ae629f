//! `bundle` and `devices release` as they are typed, and doctor's promise to change nothing.

mod scratch;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use scratch::Ran;

/// A directory with a home, a place for temporary files, and a place to work in, and nothing of this machine's user.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for dir in ["home", "tmp", "work", "bin"] {
            fs_err::create_dir(place.path().join(dir)).unwrap();
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    #[expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]
    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
        let path = std::env::var("PATH").unwrap();
        command.args(args).current_dir(self.path().join("work"));
        command.env("PATH", format!("{}:{path}", self.path().join("bin").display()));
        command.env("HOME", self.path().join("home")).env("TMPDIR", self.path().join("tmp"));
        command
            .env("PTOKIT_QUARANTINE", self.path().join("quarantine"))
            .env("CARGO_TARGET_DIR", self.path().join("target"));
        for name in ["PTOKIT_HOME", "XDG_CACHE_HOME", "ASCEND_PROCESS_LOG_PATH"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// An `npu-smi` that never answers.
    fn hanging_npu_smi(&self) {
        let program = self.path().join("bin/npu-smi");
        fs_err::write(&program, "#!/bin/sh\nexec sleep 300\n").unwrap();
        fs_err::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Everything below, with size and time of the last change.
    fn listing(&self) -> BTreeMap<PathBuf, (u64, i64, i64)> {
        let mut all = BTreeMap::new();
        let mut open = vec![self.path().to_owned()];
        while let Some(path) = open.pop() {
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                open.extend(fs_err::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            all.insert(path, (metadata.len(), metadata.mtime(), metadata.mtime_nsec()));
        }
        all
    }
}

#[test]
fn looking_changes_nothing() {
    let place = Place::new();
    fs_err::write(place.path().join("work/module.py"), "").unwrap();
    let before = place.listing();
    for args in [&["doctor"][..], &["doctor", "--json"], &["doctor", "--list"], &["devices"], &["triage", "507018"]] {
        assert_ne!(place.run(args).code, Some(2), "{args:?}");
    }
    assert_eq!(place.listing(), before);
}

#[test]
fn a_bundle_is_written_and_says_what_it_lacks() {
    let place = Place::new();
    fs_err::write(place.path().join("work/run.log"), "run failed: 507034\n").unwrap();
    let ran = place.run(&["bundle", "-o", "b.tar.gz", "--log", "run.log", "--note", "it failed", "--json"]).expect(0);
    let document = ran.json();
    assert_eq!((&document["schema"], &document["output"]), (&"ptokit.bundle/1".into(), &"b.tar.gz".into()));
    let files = document["manifest"]["files"].as_array().unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    for path in ["doctor.txt", "doctor.json", "snapshot.json", "note.txt", "triage.json", "logs/01-run.log"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
    let bytes = fs_err::read(place.path().join("work/b.tar.gz")).unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b], "it is no gzip file");
    // The second one replaces it, and people are told that nothing was sent.
    let ran = place.run(&["bundle", "-o", "b.tar.gz"]).expect(0);
    assert!(ran.says("wrote b.tar.gz, nothing was sent anywhere") && ran.says("without logs: none was found"), "{ran}");
}

#[test]
fn a_bundle_is_refused_before_anything_is_written() {
    let place = Place::new();
    for (args, code) in [
        (&["bundle"][..], 2),
        (&["bundle", "-o", "b.tar.gz", "--log", "gone.log"], 2),
        (&["bundle", "-o", "gone/b.tar.gz"], 3),
        (&["bundle", "-o", "."], 3),
        (&["bundle", "-o", "/dev/null"], 3),
    ] {
        let ran = place.run(args).expect(code);
        assert!(ran.stderr.contains("error:"), "{ran}");
    }
    assert_eq!(fs_err::read_dir(place.path().join("work")).unwrap().count(), 0);
    assert!(!fs_err::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let place = Place::new();
    place.hanging_npu_smi();
    for args in [&["bundle", "-o", "b.tar.gz"][..], &["doctor", "--save", "s.json"], &["devices"]] {
        let mut child = place
            .command(args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // It works for as long as `npu-smi` does.
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "{args:?} ended by itself");
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let start = Instant::now();
        let ran: Ran = child.wait_with_output().unwrap().into();
        let ran = ran.expect(130);
        assert!(start.elapsed() < Duration::from_secs(20) && ran.stdout.is_empty(), "{ran}");
    }
    assert_eq!(fs_err::read_dir(place.path().join("work")).unwrap().count(), 0);
}

#[test]
fn one_program_that_hangs_costs_its_own_checks() {
    let place = Place::new();
    place.hanging_npu_smi();
    let ran: Ran = place.command(&["doctor", "--json"]).env("PTOKIT_PROBE_SECONDS", "1").output().unwrap().into();
    let document = ran.expect(1).json();
    let checks = document["checks"].as_array().unwrap();
    let failed: Vec<&str> =
        checks.iter().filter(|check| check["status"] == "fail").map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(failed, ["npu-smi"]);
}

#[test]
fn a_device_is_released_once() {
    let place = Place::new();
    let quarantine = place.path().join("quarantine");
    fs_err::create_dir(&quarantine).unwrap();
    fs_err::write(quarantine.join("davinci3-a.json"), "not readable, and in doubt set aside").unwrap();
    let record = r#"{"schema":"ptokit.quarantine/1","device":3,"why":"it hung","pid":1,"uid":0,"since":1,"until":99999999999,"boot":null}"#;
    fs_err::write(quarantine.join("davinci3-b.json"), record).unwrap();
    let ran = place.run(&["devices", "release", "3"]).expect(0);
    assert!(ran.says("device 3 is free again") && ran.says("it hung"), "{ran}");
    let document = place.run(&["devices", "release", "3", "--json"]).expect(0).json();
    assert_eq!(
        (&document["schema"], &document["released"]),
        (&"ptokit.devices-release/1".into(), &serde_json::json!([]))
    );
}
