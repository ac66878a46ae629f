//! Ending children: deadline, drop, interrupt, the death of the parent. Each test ends by looking for survivors.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_process::{Invocation, Running, Status};

fn cx() -> Context {
    Context::fake("/", [("PATH", "/usr/bin:/bin")])
}

fn sh(script: &str) -> Invocation {
    Invocation::new("sh").args(["-c", script]).grace(Duration::from_millis(200))
}

/// A directory in which children leave their process ids, in files that end in `.pid`.
struct Pids(tempfile::TempDir);

impl Pids {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Waits for the file and returns the process id in it.
    fn get(&self, name: &str) -> u32 {
        let file = self.path().join(format!("{name}.pid"));
        until(&format!("{} is written", file.display()), || {
            fs_err::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))
        });
        fs_err::read_to_string(&file).unwrap().trim().parse().unwrap()
    }
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the process runs; a zombie that its new parent has not yet reaped does not.
fn alive(pid: u32) -> bool {
    fs_err::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

fn until_dead(pid: u32) {
    until(&format!("process {pid} is dead"), || !alive(pid));
}

#[test]
fn at_the_deadline_the_child_gets_term_and_may_tidy_up() {
    let deadline = Duration::from_millis(300);
    let script = "trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.02; done";
    let output = sh(script).grace(Duration::from_secs(10)).deadline(deadline).run(&cx()).unwrap();
    assert_eq!((output.status, output.stdout.text().as_ref()), (Status::TimedOut { deadline }, "ready\ntidied\n"));
    assert!(output.duration < Duration::from_secs(5), "{:?}", output.duration);
    let error = output.require_success().unwrap_err();
    assert_eq!(error.to_string(), "`sh` was still running at its deadline of 300ms and was ended");
    assert!(error.hint().unwrap().starts_with("give it more time, or see by yourself what it waits for: "));
    let hint = sh("sleep 60").deadline_from("T", Duration::from_millis(10)).run(&cx()).unwrap().require_success();
    let hint = hint.unwrap_err().hint().unwrap();
    assert!(hint.contains("`T=SECONDS`") && hint.contains("sleep 60"), "{hint}");
}

#[test]
fn a_family_that_ignores_term_is_killed() {
    let pids = Pids::new();
    let script = "trap '' TERM; (echo $PPID > x.pid; while :; do sleep 1; done) & echo $! > grandchild.pid;
                  echo $$ > child.pid; wait";
    let output = sh(script).cwd(pids.path()).deadline(Duration::from_millis(300)).run(&cx()).unwrap();
    assert!(matches!(output.status, Status::TimedOut { .. }));
    assert!(output.duration < Duration::from_secs(4), "{:?}", output.duration);
    until_dead(pids.get("child"));
    until_dead(pids.get("grandchild"));
}

#[test]
fn a_grandchild_left_behind_with_our_pipe_does_not_hang_us() {
    let pids = Pids::new();
    let script = "(trap '' TERM HUP; exec sleep 300) & echo $! > left.pid; echo done";
    let output = sh(script).cwd(pids.path()).run(&cx()).unwrap();
    assert_eq!((output.status, output.stdout.text().as_ref()), (Status::Exited(0), "done\n"));
    assert!(output.duration < Duration::from_secs(4), "{:?}", output.duration);
    until_dead(pids.get("left"));
}

#[test]
fn a_grandchild_in_another_session_with_our_pipe_does_not_hang_us_either() {
    let pids = Pids::new();
    let script = "setsid sh -c 'echo $$ > left.pid; exec sleep 20' & echo done";
    let output = sh(script).cwd(pids.path()).run(&cx()).unwrap();
    assert!(output.success() && output.duration < Duration::from_secs(4), "{:?}", output.duration);
    // It left the group on purpose, so it is not ours to end; the test tidies up by its number.
    let left = pids.get("left");
    assert!(alive(left));
    assert!(sh(&format!("kill -KILL {left}")).run(&cx()).unwrap().success());
}

#[test]
fn a_child_that_writes_without_pause_does_not_outrun_its_deadline() {
    let output = sh("yes").capture_limit(1000).deadline(Duration::from_millis(300)).run(&cx()).unwrap();
    assert!(matches!(output.status, Status::TimedOut { .. }) && output.stdout.dropped() > 0);
    assert!(output.duration < Duration::from_secs(4), "{:?}", output.duration);
}

#[test]
fn the_last_words_of_a_grandchild_are_waited_for() {
    let output = sh("(sleep 0.2; echo late) & echo early").run(&cx()).unwrap();
    assert_eq!(output.stdout.text(), "early\nlate\n");
}

#[test]
fn a_dropped_child_is_killed_and_reaped() {
    let pids = Pids::new();
    let running: Running =
        sh("sleep 300 & echo $! > grandchild.pid; wait").cwd(pids.path()).start(&cx()).expect("sh starts");
    let (child, grandchild) = (running.pid(), pids.get("grandchild"));
    assert!(alive(child) && alive(grandchild));
    drop(running);
    assert!(!Path::new(&format!("/proc/{child}")).exists(), "the child was not reaped");
    until_dead(grandchild);
}

#[test]
fn a_child_outlives_the_thread_that_started_it() {
    let thread = std::thread::spawn(|| sh("sleep 0.3; echo survived").start(&cx()).expect("sh starts"));
    let running = thread.join().unwrap();
    assert_eq!(running.wait().unwrap().stdout.text(), "survived\n");
}

/// The example program `deadline`, built beside the tests by `cargo test`.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/deadline");
    assert!(example.exists(), "`{}` is missing: cargo build -p pto-process --examples", example.display());
    example
}

/// Starts the example over a script; once the script has written `child.pid`, sends each signal in turn.
fn example_under(pids: &Pids, script: &str, signals: &[&str]) -> pto_process::Output {
    let running = Invocation::new(example())
        .args(["60", "sh", "-c", script])
        .cwd(pids.path())
        .deadline(Duration::from_secs(30))
        .start(&cx())
        .unwrap();
    pids.get("child");
    for signal in signals {
        let kill = sh(&format!("kill -{signal} {}", running.pid())).run(&cx()).unwrap();
        assert!(kill.success(), "{}", kill.last_words(3));
        std::thread::sleep(Duration::from_millis(300));
    }
    running.wait().unwrap()
}

#[test]
fn an_interrupt_lets_the_child_tidy_up_first() {
    let pids = Pids::new();
    let script = "trap 'echo tidied; exit 0' TERM; echo $$ > child.pid; while :; do sleep 0.02; done";
    let output = example_under(&pids, script, &["INT"]);
    assert_eq!((output.status, output.stdout.text().as_ref()), (Status::Exited(130), "tidied\n"));
    assert!(output.stderr.text().contains("`sh` was interrupted"), "{:?}", output.stderr);
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let pids = Pids::new();
    let script = "trap '' TERM; sleep 300 & echo $! > grandchild.pid; echo $$ > child.pid; wait; sleep 300";
    let output = example_under(&pids, script, &["INT", "INT"]);
    assert_eq!(output.status, Status::Exited(130));
    assert!(output.duration < Duration::from_secs(3), "it waited for the grace: {:?}", output.duration);
    until_dead(pids.get("child"));
    until_dead(pids.get("grandchild"));
}

#[test]
fn a_killed_parent_takes_its_child_along() {
    let pids = Pids::new();
    let script = "trap '' TERM HUP; echo $$ > child.pid; while :; do sleep 0.02; done";
    let output = example_under(&pids, script, &["KILL"]);
    assert_eq!(output.status, Status::Signaled { signal: 9, core: false });
    until_dead(pids.get("child"));
}
