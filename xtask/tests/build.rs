//! `build` as it is typed: what it prints, and how it ends.

mod scratch;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use assert_cmd::Command;
use pto_test::pypto::{Binding, Project, Python};
use scratch::Ran;

/// A program with the surroundings of the project.
fn run(project: &Project, program: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.env_clear().envs(project.cx().vars()).env_remove("PYPTO_SRC").env_remove("PYPTO_HOME");
    command.args(args).current_dir(project.dir()).output().unwrap().into()
}

fn xtask(project: &Project, args: &[&str]) -> Ran {
    run(project, Path::new(env!("CARGO_BIN_EXE_xtask")), args)
}

#[test]
fn a_build_and_what_is_said_of_it() {
    let Some(python) = Python::find() else { return };
    let project = Project::new(Binding::Plain);
    project.install(&python);
    let isa = project.remote("pto-isa").display().to_string();
    let places = ["--pypto-src", "pypto", "--pypto-home", "home", "--pto-isa-url", &isa];
    let build = |more: &[&str]| xtask(&project, &[&["build"], &places[..], more].concat());

    // A plan alone writes nothing.
    let plan = build(&["--dry-run", "--explain"]).expect(0);
    for text in
        ["would build `pypto` from scratch: there is no build yet", "# fetch PTO-ISA", " -G Ninja ", "--parallel 2"]
    {
        assert!(plan.stdout.contains(text), "{text}: {plan}");
    }
    assert!(!project.checkout().join("build").exists() && !project.home().join("cache").exists());

    let built = build(&["--json", "--jobs", "9"]).expect(0);
    assert!(built.stderr.contains("9 jobs were asked for, an unclassified machine allows 2: using 2"), "{built}");
    let document = built.json();
    assert_eq!((&document["schema"], &document["dry_run"]), (&"ptokit.build/1".into(), &false.into()));
    assert_eq!(document["decision"]["reason"]["reason"], "no-build");
    assert!(document["artifacts"][0].as_str().unwrap().contains("python/pypto/pypto_core"), "{document}");
    assert_eq!(document["isa"]["reused"], false);

    // The program under its own name; nothing changed, and it says so.
    let named = project.dir().join("pypto-build");
    fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_xtask"), &named).unwrap();
    let again = run(&project, &named, &[&places[..], &["--explain"]].concat()).expect(0);
    for text in [
        "ok built `pypto` with what was there (Ninja, 2 jobs)",
        "nothing changed of what",
        "source-path",
        "cxx-compiler",
    ] {
        assert!(again.stdout.contains(text), "{text}: {again}");
    }

    let changed = build(&["--dry-run", "--explain", "--build-type", "Debug"]).expect(0);
    let expected = "from scratch: `options` changed (Ninja, 2 jobs)\n  options\n    was  (nothing)\n    is   CMAKE_BUILD_TYPE=Debug\n";
    assert!(changed.stdout.contains(expected), "{changed}");
    let json = build(&["--dry-run", "--json", "--build-type", "Debug"]).expect(0).json();
    let change = &json["decision"]["reason"]["changes"][0];
    assert_eq!((&change["input"], &change["is"]), (&"options".into(), &"CMAKE_BUILD_TYPE=Debug".into()));

    // What a managed patch changed is the one edit of the runtime that a strict doctor accepts.
    let ring = project.checkout().join("runtime/src/common/ring.h");
    fs_err::write(&ring, fs_err::read_to_string(&ring).unwrap().replace("SLOTS 8", "SLOTS 32")).unwrap();
    let patch = project.git(&project.checkout().join("runtime"), &["diff", "--binary"]) + "\n";
    project.git(&project.checkout().join("runtime"), &["checkout", "--quiet", "."]);
    fs_err::write(project.dir().join("slots.patch"), patch).unwrap();
    let patched = build(&["--patches", "slots.patch"]).expect(0);
    assert!(patched.stdout.contains("patch      slots: applied"), "{patched}");
    let strict = ["doctor", "--strict", "--only", "simpler-binding"];
    let doctor_with = |path: &str| {
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_xtask"));
        doctor.env_clear().envs(project.cx().vars()).env("PATH", path).current_dir(project.home());
        Ran::from(doctor.args(strict).output().unwrap())
    };
    let path = project.cx().var("PATH").unwrap();
    let doctor = || doctor_with(&format!("{}:{path}", project.home().join("venv/bin").display()));
    let accepted = doctor().expect(0);
    assert!(accepted.stdout.contains("with the image's managed patch"), "{accepted}");
    // Also of another owner, whose files git would not look at; and from a shell that was not set up.
    if fs_err::metadata(project.home()).unwrap().uid() == 0 {
        project.give_to(&project.checkout(), 47_113);
        let of_another = doctor_with(&path).expect(0);
        let python = format!("patch (in `{}`)", project.home().join("venv/bin/python").display());
        assert!(of_another.stdout.contains(&python), "{of_another}");
        project.give_to(&project.checkout(), 0);
    }
    let patched_ring = fs_err::read_to_string(&ring).unwrap();
    fs_err::write(&ring, patched_ring.clone() + "// mine\n").unwrap();
    let refused = doctor().expect(1);
    assert!(refused.stdout.contains("uncommitted changes that it may lack: `src/common/ring.h`"), "{refused}");
    fs_err::write(&ring, &patched_ring).unwrap();
    let extra = ring.with_file_name("extra.cpp");
    fs_err::write(&extra, "").unwrap();
    let refused = doctor().expect(1);
    assert!(refused.stdout.contains("may lack: `src/common/ring.h` and 1 more"), "{refused}");
    fs_err::remove_file(&extra).unwrap();
    assert_eq!(doctor().expect(0).stdout, accepted.stdout);
    // Taken off again, the patch is still in what is installed.
    project.git(&project.checkout().join("runtime"), &["checkout", "--quiet", "."]);
    let refused = doctor().expect(1);
    assert!(refused.stdout.contains("which `runtime/` does not have any more"), "{refused}");
    fs_err::write(&ring, &patched_ring).unwrap();

    // A mistake in a source is the sources', and shown.
    fs_err::write(project.checkout().join("src/core/version.cpp"), "#error of mine\n").unwrap();
    let mistake = build(&[]).expect(1);
    for text in ["error: cannot build the native extension of `", "#error of mine", "hint: mend what is said above"] {
        assert!(mistake.stderr.contains(text), "{text}: {mistake}");
    }
    project.git(&project.checkout(), &["checkout", "--quiet", "."]);

    // What is given wrongly, and what is missing.
    let nowhere = xtask(&project, &["build", "--pypto-src", "nowhere", "--json"]).expect(2).json();
    assert!(nowhere["error"]["message"].as_str().unwrap().contains("there is no directory `"), "{nowhere}");
    let bare = xtask(&project, &["build", "--pypto-src", "pypto", "--pypto-home", "none"]).expect(3);
    assert!(bare.stderr.contains("there is no working Python at") && bare.stderr.contains("hint: "), "{bare}");
    let limits = project.checkout().join(".claude/skills/testing/testing.env");
    fs_err::create_dir_all(limits.parent().unwrap()).unwrap();
    fs_err::write(&limits, "# this machine\nexport PYPTO_BUILD_JOBS=all\n").unwrap();
    let refused = build(&[]).expect(2);
    assert!(refused.stderr.contains("testing.env` line 2: `PYPTO_BUILD_JOBS=all`"), "{refused}");
}
