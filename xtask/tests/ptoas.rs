//! `ptoas`, `env` and `store` as they are typed.

mod scratch;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use assert_cmd::Command;
use scratch::Ran;

/// A program in a directory, with only these variables of ours.
fn run(program: &Path, dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(program);
    for name in ["PTOAS_ROOT", "PYPTO_SRC", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "PYTHONPATH"] {
        command.env_remove(name);
    }
    command.env("PYPTO_HOME", dir.join("home")).env("PTOKIT_HOME", dir.join("store"));
    command.args(args).current_dir(dir).output().unwrap().into()
}

fn xtask(dir: &Path, args: &[&str]) -> Ran {
    run(Path::new(env!("CARGO_BIN_EXE_xtask")), dir, args)
}

/// An assembler that says a version, and a checkout that pins another one.
fn world(installed: &str, pinned: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for sub in ["home/ptoas/bin", "checkout/toolchain"] {
        fs_err::create_dir_all(dir.path().join(sub)).unwrap();
    }
    let program = dir.path().join("home/ptoas/bin/ptoas");
    fs_err::write(&program, format!("#!/bin/sh\necho ptoas {installed}\n")).unwrap();
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let digest = "ab".repeat(32);
    let pins = format!("PTOAS_VERSION={pinned}\nPTOAS_SHA256_X86_64={digest}\nPTOAS_SHA256_AARCH64={digest}\n");
    fs_err::write(dir.path().join("checkout/toolchain/versions.env"), pins).unwrap();
    fs_err::write(dir.path().join("checkout/README.md"), "needs ptoas v0.55\n").unwrap();
    dir
}

#[test]
fn an_older_assembler_is_an_error_with_the_command_that_helps() {
    let dir = world("0.54", "v0.57");
    let old = xtask(dir.path(), &["ptoas", "status", "--checkout", "checkout"]).expect(1);
    for text in [
        "error: PTOAS is older than v0.57",
        "v0.55 in README.md:1",
        "do: cargo xtask ptoas install --checkout checkout",
    ] {
        assert!(old.stdout.contains(text), "{old}");
    }
    let same = world("0.57", "v0.57");
    let document = xtask(same.path(), &["ptoas", "status", "--checkout", "checkout", "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["verdict"]), (&"ptokit.ptoas-status/1".into(), &"as-pinned".into()));
    assert_eq!(document["drift"][0]["version"], "v0.55");
}

#[test]
fn a_name_of_its_own_installs() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("pypto-install-ptoas");
    symlink(env!("CARGO_BIN_EXE_xtask"), &name).unwrap();
    let ran = run(&name, dir.path(), &["--versions-env", "gone.env", "--json"]).expect(2).json();
    assert_eq!(ran["schema"], "ptokit.ptoas-install/1");
    let error = &ran["error"];
    assert_eq!(error["message"], "there is no checkout that pins PTOAS: no `gone.env`");
    assert!(error["hint"].as_str().unwrap().contains("--checkout"), "{error}");
}

#[test]
fn the_environment_is_stable_when_it_is_evaluated_twice() {
    let dir = world("0.57", "v0.57");
    let program = env!("CARGO_BIN_EXE_xtask");
    let script = format!(
        "set -eu; eval \"$({program} env)\"; a=$(env | sort); eval \"$({program} env)\"; b=$(env | sort); \
                          [ \"$a\" = \"$b\" ]; command -v ptoas"
    );
    let ran = run(Path::new("/bin/bash"), dir.path(), &["--noprofile", "--norc", "-c", &script]).expect(0);
    assert_eq!(ran.stdout.trim(), dir.path().join("home/ptoas/bin/ptoas").to_str().unwrap(), "{ran}");
    let fish = xtask(dir.path(), &["env", "--shell", "fish"]).expect(0);
    assert!(fish.stdout.contains("set -gx --path PATH '"), "{fish}");
    let both = [xtask(dir.path(), &["env", "--json"]), xtask(dir.path(), &["env", "--shell", "json"])];
    assert_eq!(both[0].stdout, both[1].stdout);
}

#[test]
fn a_store_is_listed_verified_and_cleaned() {
    let dir = tempfile::tempdir().unwrap();
    let cx = pto_context::Context::fake("/", [("A", "1")]);
    let store = pto_store::Store::open(dir.path().join("store"));
    let fill =
        |entry: &Path| fs_err::write(entry.join("file"), "abc").map_err(|e| pto_store::Error::io("cannot write", e));
    store.entry("files", "one").unwrap().get_or_build(&cx, fill).unwrap();
    assert!(xtask(dir.path(), &["store", "list"]).expect(0).stdout.contains("files        one"));
    assert!(xtask(dir.path(), &["store", "verify"]).expect(0).stdout.starts_with("1 intact"));
    fs_err::write(dir.path().join("store/files/one/file"), "abd").unwrap();
    let bad = xtask(dir.path(), &["store", "verify"]).expect(1);
    assert!(bad.stdout.contains("damaged files/one: 1 files are not what they were, the first is `file`"), "{bad}");
    let document = xtask(dir.path(), &["store", "verify", "--remove", "--json"]).expect(0).json();
    assert_eq!(document["entries"][0]["status"], "removed");
    store.entry("files", "two").unwrap().get_or_build(&cx, fill).unwrap();
    let gone = xtask(dir.path(), &["store", "gc", "--older-than", "0", "--json"]).expect(0).json();
    assert_eq!((&gone["bytes"], gone["removed"].as_array().unwrap().len()), (&3.into(), 1));
}
