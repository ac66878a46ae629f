//! What a machine can lack, and what is said of it.
#![expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]

mod scratch;

use std::path::{Path, PathBuf};

use scratch::{Ran, Scratch};

const TEST: &[&str] = &["kernel", "test", "./foo", "--case", "n=4096"];

/// A place with the template's kernel.
fn scratch() -> Option<Scratch> {
    let scratch = Scratch::new()?;
    scratch.kernel("foo");
    Some(scratch)
}

fn run(command: &mut assert_cmd::Command) -> Ran {
    command.output().unwrap().into()
}

#[track_caller]
fn says(ran: &Ran, lines: &[&str]) {
    for line in lines {
        assert!(ran.says(line), "`{line}` is missing\n{ran}");
    }
}

/// Runs a shell script in which `$X` is the program and `$@` its arguments.
fn in_shell(scratch: &Scratch, script: &str) -> assert_cmd::Command {
    wrapped(scratch, &["sh", "-c", script, "sh"])
}

/// Runs a shell script that may mount file systems nobody else sees. `None`, said on stderr, where that is not allowed.
fn in_own_mounts(scratch: &Scratch, script: &str) -> Option<assert_cmd::Command> {
    let may = std::process::Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        pto_test::absent("file systems cannot be mounted here, which takes root");
        return None;
    }
    Some(wrapped(scratch, &["unshare", "-m", "sh", "-ec", script, "sh"]))
}

fn wrapped(scratch: &Scratch, words: &[&str]) -> assert_cmd::Command {
    let plain = scratch.plain_command(&[]);
    let mut command = assert_cmd::Command::new(words[0]);
    command.args(&words[1..]).args(TEST).env("X", plain.get_program()).current_dir(scratch.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// A `PATH` with a shell and nothing that compiles.
fn bare_path(scratch: &Scratch) -> PathBuf {
    let bin = scratch.path().join("bin");
    fs_err::create_dir_all(&bin).unwrap();
    fs_err::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    bin
}

#[test]
fn no_compiler() {
    let Some(scratch) = scratch() else { return };
    let (bin, home) = (bare_path(&scratch), scratch.path().join("home"));
    let mut command = scratch.command(&[TEST, &["--offline"]].concat());
    let ran = run(command.env("PATH", &bin).env("PTOKIT_HOME", &home)).expect(3);
    says(
        &ran,
        &["no C++ compiler that takes PTO-ISA's CPU headers: none found on `PATH`", "hint: install clang 17 or newer"],
    );

    let ran = run(scratch.command(TEST).env("PATH", &bin).env("PTOKIT_HOME", &home)).expect(3);
    says(&ran, &["there is no Python package client", "hint: install one without root"]);
}

#[test]
fn a_compiler_that_is_none() {
    let Some(scratch) = scratch() else { return };
    let ran = run(scratch.command(TEST).env("CXX", "/nonesuch/g++")).expect(3);
    says(&ran, &["`/nonesuch/g++` (from `CXX`)", "hint: name another one with `--cxx` or `CXX`"]);
    let ran = run(scratch.command(TEST).env("CXX", "true")).expect(3);
    says(&ran, &["`true` (from `CXX`)", "hint: name another one"]);
    let ran = run(&mut scratch.command(&[TEST, &["--cxx", "sh -c"]].concat())).expect(3);
    says(&ran, &["`sh -c` (given explicitly)", "hint: name another one"]);
}

#[test]
fn no_network_and_no_packages() {
    let Some(scratch) = scratch() else { return };
    let home = scratch.path().join("home");
    let ran = run(scratch.command(TEST).env_remove("PTO_LIB_PATH").env("PTOKIT_HOME", &home).env("PIP_RETRIES", "0"))
        .expect(3);
    says(
        &ran,
        &[
            "error: cannot get `tilelang-ascend==",
            "hint: without access to the registry, set a mirror with `PIP_INDEX_URL`",
        ],
    );
    let mut command = scratch.command(&[TEST, &["--offline"]].concat());
    let ran = run(command.env_remove("PTO_LIB_PATH").env("PTOKIT_HOME", &home)).expect(3);
    says(
        &ran,
        &["no PTO-ISA headers: the pinned package", "nothing may be fetched", "hint: run once without `--offline`"],
    );
}

#[test]
fn a_package_that_is_not_what_was_pinned() {
    let Some(scratch) = scratch() else { return };
    let links = scratch.path().join("links");
    fake_wheel(&links);
    let ran = run(scratch
        .command(TEST)
        .env_remove("PTO_LIB_PATH")
        .env("PTOKIT_HOME", scratch.path().join("home"))
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", &links)
        .env("UV_NO_INDEX", "1")
        .env("UV_FIND_LINKS", &links))
    .expect(3);
    says(
        &ran,
        &["error: checksum of `", "expected sha256 ", "found ", "hint: a mirror or a proxy delivers another file"],
    );
}

/// A wheel of the pinned name that holds something else.
fn fake_wheel(links: &Path) {
    let pin = pto_kernel::run::PTO_ISA;
    let info = format!("{}-{}.dist-info", pin.name.replace('-', "_"), pin.version);
    let metadata = format!("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", pin.name, pin.version);
    let program = "import sys, zipfile\n\
                   with zipfile.ZipFile(sys.argv[1], 'w') as z:\n    \
                   z.writestr(sys.argv[2] + '/METADATA', sys.argv[3])\n    \
                   z.writestr(sys.argv[2] + '/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: ' + sys.argv[4] + '\\n')\n    \
                   z.writestr(sys.argv[2] + '/RECORD', '')\n";
    fs_err::create_dir_all(links).unwrap();
    let tag = pin.file.trim_end_matches(".whl").splitn(3, '-').nth(2).unwrap();
    let mut python = assert_cmd::Command::new("python3");
    python.args(["-c", program]).arg(links.join(pin.file)).args([&info, &metadata, tag]).assert().success();
}

#[test]
fn a_full_disk() {
    let Some(scratch) = scratch() else { return };
    let full =
        "mkdir -p full; mount -t tmpfs -o size=64k tmpfs full; dd if=/dev/zero of=full/fill bs=1k 2>/dev/null || true;";
    if let Some(mut command) = in_own_mounts(&scratch, &format!("{full} PTOKIT_HOME=$PWD/full exec \"$X\" \"$@\"")) {
        let ran = run(&mut command).expect(3);
        says(&ran, &["space", "full", "hint: "]);
    }
    if let Some(mut command) = in_own_mounts(&scratch, &format!("{full} CARGO_TARGET_DIR=$PWD/full exec \"$X\" \"$@\""))
    {
        let ran = run(&mut command).expect(3);
        says(&ran, &["space", "full", "hint: "]);
    }
}

/// The same without root: no file may be larger than some kilobytes.
#[test]
fn a_limit_on_files() {
    let Some(scratch) = scratch() else { return };
    let script = "trap '' XFSZ; ulimit -f 16; PTOKIT_HOME=$PWD/home exec \"$X\" \"$@\"";
    let ran = run(&mut in_shell(&scratch, script)).expect(3);
    assert!(!ran.says("panicked"), "{ran}");
    // And the place is good again when there is room.
    let ran = run(scratch.command(TEST).env("PTOKIT_HOME", scratch.path().join("home"))).expect(0);
    says(&ran, &["passed: 1 of 1 cases"]);
}

#[test]
fn a_store_that_cannot_be_written() {
    let Some(scratch) = scratch() else { return };
    let home = scratch.path().join("home");
    let read_only = "mount --bind home home; mount -o remount,ro,bind home; PTOKIT_HOME=$PWD/home exec \"$X\" \"$@\"";
    fs_err::create_dir(&home).unwrap();
    let Some(mut command) = in_own_mounts(&scratch, read_only) else { return };
    let ran = run(&mut command).expect(3);
    says(&ran, &["is not in the store, and the store cannot be written", "hint: make the store writable"]);

    let _ = run(scratch.command(TEST).env("PTOKIT_HOME", &home)).expect(0);
    fs_err::remove_dir_all(scratch.path().join("target")).unwrap();
    let Some(mut command) = in_own_mounts(&scratch, read_only) else { return };
    says(&run(&mut command).expect(0), &["passed: 1 of 1 cases"]);
}

#[test]
fn a_report_that_cannot_be_written() {
    let Some(scratch) = scratch() else { return };
    fs_err::create_dir_all(scratch.generated().join("report.json")).unwrap();
    let ran = scratch.run(TEST).expect(3);
    // What was found is shown all the same.
    says(&ran, &["passed: 1 of 1 cases", "report.json"]);
}

#[test]
fn nobody_reads_the_result() {
    let Some(scratch) = scratch() else { return };
    let ran = run(&mut in_shell(&scratch, "\"$X\" \"$@\" >/dev/full")).expect(3);
    says(&ran, &["error: cannot write to stdout: No space left on device"]);
    let ran = run(&mut in_shell(&scratch, "{ \"$X\" \"$@\"; echo rc=$? >&2; } | true")).expect(0);
    says(&ran, &["rc=0"]);
}

#[test]
fn the_disk_is_full_for_a_snapshot_or_a_bundle() {
    let Some(scratch) = scratch() else { return };
    let script = r#"
        mkdir small; mount -t tmpfs -o size=8k tmpfs small
        echo old > small/s.json; dd if=/dev/zero of=small/fill bs=1k count=20 2>&1 || true
        "$X" doctor --save small/s.json || echo "save $?"
        "$X" bundle -o small/b.tar.gz || echo "bundle $?"
        cat small/s.json; ls -a small"#;
    let Some(mut command) = in_own_mounts(&scratch, script) else { return };
    let ran = run(&mut command);
    says(&ran, &["save 3", "bundle 3", "No space left on device", "free some space"]);
    let last: Vec<&str> = ran.stdout.lines().rev().take(5).collect();
    assert_eq!(last, ["s.json", "fill", "..", ".", "old"], "{ran}");
}
