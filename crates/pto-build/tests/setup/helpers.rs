//! Our own program in a home, and what a shell sources.

use pto_build::{SetupOptions, setup};
use pto_context::Event;
use pto_process::Invocation;

use crate::support::World;

fn only(world: &World) -> SetupOptions {
    SetupOptions { helpers_only: true, ..world.options() }
}

#[test]
fn helpers_alone_need_no_checkout_and_no_network() {
    let world = World::bare();
    let options = SetupOptions { src: Some(world.path("no checkout")), ..only(&world) };
    let done = setup(&world.cx(), &options).unwrap();
    assert_eq!((done.plan.uv, done.plan.venv, done.plan.packages), (None, None, None));
    assert!(!world.venv().exists());
    for name in ["pypto-setup", "pypto-doctor"] {
        assert_eq!(fs_err::read_link(world.path("home/bin").join(name)).unwrap(), std::path::Path::new("ptokit"));
    }
    assert!(setup(&world.cx(), &options).unwrap().plan.is_empty());
}

#[test]
fn what_is_stale_is_refreshed_and_nothing_else() {
    let world = World::bare();
    setup(&world.cx(), &only(&world)).unwrap();
    let stale = |world: &World| -> Vec<String> {
        let refresh = world.plan(&only(world)).unwrap().plan.helpers.refresh;
        refresh.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    assert!(stale(&world).is_empty());
    world.program("program", "echo newer");
    assert_eq!(stale(&world), ["ptokit"]);
    // What somebody put in the place of a name, and inputs of the toolchain.
    fs_err::remove_file(world.path("home/bin/pypto-setup")).unwrap();
    world.write("home/bin/pypto-setup", "old script");
    world.write("src/toolchain/versions.env", "PTOAS_VERSION=v0.62\n");
    assert_eq!(stale(&world), ["ptokit", "pypto-setup", "versions.env"]);
    setup(&world.cx(), &only(&world)).unwrap();
    assert!(stale(&world).is_empty());
    let run = Invocation::new(world.path("home/bin/pypto-setup")).run(&pto_test::machine()).unwrap();
    assert_eq!(run.stdout.text(), "newer\n");
    assert_eq!(fs_err::read_to_string(world.path("home/toolchain/versions.env")).unwrap(), "PTOAS_VERSION=v0.62\n");
}

#[test]
fn what_is_somebodys_in_bin_is_kept() {
    let world = World::bare();
    let read = |name: &str| fs_err::read_to_string(world.path("home/bin").join(name)).unwrap();
    world.write("home/bin/.notes-new", "notes");
    world.write("home/bin/.ptokit-new", "half a program");
    world.write("home/bin/pypto-setup", "mine");
    world.write("home/bin/pypto-setup.previous", "older");
    world.write("home/bin/pypto-doctor/mine.txt", "mine too");
    world.write("home/bin/pypto-activate.sh", "export MINE=1\n");
    setup(&world.cx(), &only(&world)).unwrap();
    assert!(!world.path("home/bin/.ptokit-new").exists(), "what a killed setup left");
    let kept = [".notes-new", "pypto-setup.previous", "pypto-setup.previous-2", "pypto-doctor.previous/mine.txt"];
    assert_eq!(kept.map(read), ["notes", "older", "mine", "mine too"]);
    assert_eq!(read("pypto-activate.sh.previous"), "export MINE=1\n");
    let said = world.events.events();
    for name in ["pypto-setup", "pypto-doctor", "pypto-activate.sh"] {
        let is_said = |event: &Event| matches!(event, Event::Warning { message } if message.contains(&format!("{name}.previous")));
        assert!(said.iter().any(is_said), "{name}: {said:?}");
    }
    // Our own are replaced without that.
    world.program("program", "echo newer");
    setup(&world.cx(), &only(&world)).unwrap();
    assert!(
        !world.path("home/bin/ptokit.previous").exists()
            && !world.path("home/bin/pypto-activate.sh.previous-2").exists()
    );
}

#[test]
fn a_link_that_leads_elsewhere_is_not_written_through() {
    let world = World::bare();
    world.write("precious", "kept");
    fs_err::create_dir_all(world.path("home/bin")).unwrap();
    for name in ["ptokit", "pypto-activate.sh"] {
        fs_err::os::unix::fs::symlink(world.path("precious"), world.path("home/bin").join(name)).unwrap();
    }
    setup(&world.cx(), &only(&world)).unwrap();
    assert_eq!(fs_err::read_to_string(world.path("precious")).unwrap(), "kept");
}

/// The program of this world says what it was asked, as exports.
#[test]
fn the_printed_command_works_for_any_path() {
    let world = World::bare();
    let done = setup(&world.cx(), &only(&world)).unwrap();
    let shell = |script: &str| {
        let run = Invocation::new("bash").args(["--noprofile", "--norc", "-euo", "pipefail", "-c", script]);
        let cx = ["PYPTO_HOME", "PYPTO_SRC"].iter().fold(pto_test::machine(), |cx, name| cx.with_var(*name, ""));
        run.run(&cx).unwrap().require_success().unwrap().stdout.text().into_owned()
    };
    let said = shell(&format!("{}; printf '%s\\n' \"$PYPTO_HOME\" \"$PYPTO_SRC\" \"$SOURCED\"", done.activation));
    let paths = [world.home(), world.path("src")].map(|path| path.display().to_string());
    assert_eq!(said.lines().collect::<Vec<_>>(), [&paths[0], &paths[1], "env --cann auto"]);
    // Sourced by itself, as a shell's start-up file: the paths that it was made for.
    let script = world.path("home/bin/pypto-activate.sh");
    let word = pto_process::shell_word(script.to_str().unwrap());
    let said = shell(&format!("set +u; . {word}; printf '%s\\n' \"$PYPTO_HOME\" \"$PYPTO_SRC\""));
    assert_eq!(said.lines().collect::<Vec<_>>(), [&paths[0], &paths[1]]);
    let said = shell(&format!("export PYPTO_SRC=/other; . {word}; echo \"$PYPTO_SRC\""));
    assert_eq!(said, "/other\n");
}

#[test]
fn without_a_cann_the_rest_is_exported_all_the_same() {
    let world = World::bare();
    world.program("program", "case $* in *--cann*) echo no CANN >&2; exit 3;; esac; echo export SOURCED=plain\n");
    let done = setup(&world.cx(), &only(&world)).unwrap();
    let run = Invocation::new("bash").args(["-c", &format!("{}; echo $SOURCED", done.activation)]);
    let output = run.run(&pto_test::machine()).unwrap();
    assert_eq!((output.stdout.text().as_ref(), output.stderr.text().as_ref()), ("plain\n", ""));
    // A program that does not work at all is said, and the shell goes on as it was.
    world.program("program", "echo broken >&2; exit 1\n");
    setup(&world.cx(), &only(&world)).unwrap();
    let run = Invocation::new("bash").args(["-c", &format!("{} || echo failed", done.activation)]);
    let output = run.run(&pto_test::machine()).unwrap();
    assert_eq!((output.stdout.text().as_ref(), output.stderr.text().as_ref()), ("failed\n", "broken\n"));
}

#[test]
fn an_interactive_shell_is_welcomed_and_no_other() {
    let world = World::bare();
    world.program("program", "echo export SOURCED=plain\n");
    let done = setup(&world.cx(), &only(&world)).unwrap();
    let said = |options: &[&str]| {
        let script = format!("{}; echo $SOURCED", done.activation);
        let run = Invocation::new("bash").args(options.iter().copied()).args(["-c", &script]);
        run.run(&pto_test::machine()).unwrap().stdout.text().into_owned()
    };
    assert_eq!(said(&["--norc", "-i"]), "plain\n", "a home without one");
    let welcome = done.home.join("bin/pypto-welcome");
    fs_err::write(&welcome, "#!/bin/sh\necho welcome\n").unwrap();
    fs_err::set_permissions(&welcome, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(said(&["--norc", "-i"]), "welcome\nplain\n");
    assert_eq!(said(&[]), "plain\n");
}
