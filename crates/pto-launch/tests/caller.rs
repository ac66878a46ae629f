//! What happens to a worker when its caller is interrupted or killed. The caller is the example, run as a program.
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use pto_quarantine::{Attempt, Holder, Quarantine};
use rustix::process::{Pid, Signal, kill_process};
use support::{Rig, caller_program, library};

/// How long a caller may take to start its worker, or to end.
const PATIENCE: Duration = Duration::from_secs(30);

const BLOCKS_STREAM_Y_N: [&str; 4] = ["blocks=8", "stream", "out:y=4000", "u32:n=1000"];

#[expect(clippy::disallowed_methods, reason = "the child is to be signalled while it runs")]
fn start(rig: &Rig, library: &Path, symbol: &str) -> Child {
    let mut command = Command::new(caller_program());
    command.arg(library).arg(symbol).args(rig.device).args(BLOCKS_STREAM_Y_N);
    command.env_clear().envs(rig.vars()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn await_that(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A caller whose worker hangs in its launcher.
fn hanging(rig: &Rig) -> Option<Child> {
    let child = start(rig, &library("kernels.c")?, "hang_in_launcher");
    let entered = || {
        let launches = std::fs::read_dir(rig.scratch.path()).unwrap().flatten();
        launches.into_iter().any(|launch| {
            std::fs::read_link(launch.path().join("phase")).is_ok_and(|phase| phase == Path::new("0.Launch"))
        })
    };
    await_that("the worker did not get to its launcher", entered);
    assert_eq!(rig.processes().len(), 3, "caller, keeper and worker");
    Some(child)
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn the_example_shows_what_came_back() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let output = start(&rig, &kernels, "fill").wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.starts_with("completed\n"), "{output:?}");
    assert!(text.contains("y: 4000 bytes, [08, 00, 00, 00, 09, 00"), "{text}");
    let output = start(&rig, &kernels, "deadlock").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let output = start(&rig, &kernels, "fil").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    rig.assert_clean();
}

#[test]
fn an_interrupted_caller_ends_its_worker_and_cleans_up() {
    let rig = Rig::new();
    let Some(child) = hanging(&rig) else { return };
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted\n");
    rig.assert_clean();
}

#[test]
fn a_killed_caller_takes_its_worker_along() {
    let rig = Rig::new();
    let Some(mut child) = hanging(&rig) else { return };
    send(&child, Signal::KILL);
    child.wait().unwrap();
    rig.assert_no_process();
}

/// The lock of a device goes with the caller, however that ends, and no device is set aside for it.
#[test]
fn a_device_is_free_again_when_its_caller_is_interrupted_or_killed() {
    for signal in [Signal::INT, Signal::KILL] {
        let state = tempfile::tempdir().unwrap();
        let mut rig = Rig::new().with_var("PTOKIT_QUARANTINE", state.path().to_str().unwrap());
        rig.device = Some("device=7");
        let Some(mut child) = hanging(&rig) else { return };
        let quarantine = Quarantine::of(&rig.cx);
        let us = Holder::this_process(None, "test", SystemTime::now());
        let Attempt::Held(Some(holder)) = quarantine.try_lock(7, &us).unwrap() else { panic!("nobody has it") };
        assert_eq!((holder.pid, holder.command.as_str()), (child.id(), "run_kernel"));
        send(&child, signal);
        child.wait().unwrap();
        rig.assert_no_process();
        assert!(matches!(quarantine.try_lock(7, &us).unwrap(), Attempt::Taken(_)));
        assert!(!quarantine.standing(SystemTime::now()).is_set_aside(7));
    }
}

#[test]
fn a_worker_killed_by_someone_else_is_a_verdict() {
    let rig = Rig::new();
    let Some(child) = hanging(&rig) else { return };
    let worker = rig.processes().into_iter().find(|pid| *pid != child.id() as i32).unwrap();
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.starts_with("crashed by SIGKILL in the launcher or its kernel, probably for want of memory"),
        "{text}"
    );
    rig.assert_clean();
}

#[test]
fn a_caller_that_is_replaced_while_it_runs_still_works() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let dir = tempfile::tempdir().unwrap();
    let (program, library) = (dir.path().join("run_kernel"), dir.path().join("libascendcl.so"));
    fs_err::copy(caller_program(), &program).unwrap();
    fs_err::copy(rig.acl(), &library).unwrap();
    // The caller waits for its input: a FIFO that gives it time to lose its file.
    let fifo = dir.path().join("x");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the child is to be disturbed while it runs")]
    let mut command = Command::new(&program);
    command.arg(&kernels).arg("fill").args(&BLOCKS_STREAM_Y_N[..3]).arg("u32:n=1000");
    command.arg(format!("in:x={}", fifo.display()));
    let child = command.env_clear().envs(rig.vars()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = fs_err::File::options().write(true).open(&fifo).unwrap();
    fs_err::remove_file(&program).unwrap();
    fs_err::write(&program, "#!/bin/false\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    rig.assert_clean();
}
