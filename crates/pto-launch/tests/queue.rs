//! A machine whose devices are handed out by `task-submit`: a stand-in that records what it is asked, and runs the task as
//! the real one does, away from its client.

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use pto_context::Context;
use pto_launch::{DevicePool, LaunchError, Launched, Phase, Slot, Verdict};
use support::{N, Rig, filled, library};

/// The task is nobody's child, its exit code is not passed on, and the queue has words of its own.
const RUNS: &str = r#"#!/bin/sh
printf '%s\n' "$@" > "$QUEUE_SAID"
echo "Task 42 submitted"
while [ "$1" != --run ]; do [ "$1" = --device ] && TASK_DEVICE=$2 && export TASK_DEVICE; shift; done
setsid sh -c "($2); touch '$QUEUE_SAID.done'" &
while [ ! -e "$QUEUE_SAID.done" ]; do sleep 0.02; done
rm "$QUEUE_SAID.done"
exit 215
"#;

/// The client dies while its task is in the launcher.
const DIES: &str = r#"#!/bin/sh
while [ "$1" != --run ]; do shift; done
setsid sh -c "$2" &
while [ "$(readlink "$TMPDIR"/pto-launch-*/phase)" != 0.Launch ]; do sleep 0.02; done
exit 1
"#;

/// Nothing was free in time.
const REFUSES: &str = "#!/bin/sh\necho 'no device within 3 s' >&2\nexit 1\n";

struct Queued {
    rig: Rig,
    cx: Context,
    dir: tempfile::TempDir,
}

impl Queued {
    fn new(script: &str) -> Self {
        let (rig, dir) = (Rig::new().with_var("PTO_ACLSIM_DEVICES", "4"), tempfile::tempdir().unwrap());
        let program = dir.path().join("task-submit");
        fs_err::write(&program, script).unwrap();
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let cx = rig.cx.clone().with_var("PATH", format!("{}:/usr/bin:/bin", dir.path().display()));
        let cx = cx.with_var("QUEUE_SAID", dir.path().join("said")).with_var("PTOKIT_QUARANTINE", dir.path().join("q"));
        Self { rig, cx, dir }
    }

    fn launch(&self, symbol: &str, process: Duration) -> Option<Result<Launched, LaunchError>> {
        let mut request = self.rig.request(&library("kernels.c")?, symbol);
        request.limits.process = process;
        let pool = DevicePool::new(&self.cx, vec![Slot { device: 2, node: 3 }], "test", Duration::from_secs(20));
        let result = pool.launch(&self.cx, &self.rig.worker, &request);
        self.rig.assert_no_process();
        Some(result)
    }

    fn said(&self) -> String {
        fs_err::read_to_string(self.dir.path().join("said")).unwrap_or_default()
    }
}

const LONG: Duration = Duration::from_secs(100);

#[test]
fn a_launch_is_a_task_with_its_limits_and_its_device() {
    let queued = Queued::new(RUNS);
    let Some(launched) = queued.launch("fill", LONG) else { return };
    let launched = launched.unwrap();
    assert_eq!((&launched.verdict, &launched.outputs["y"]), (&Verdict::Completed, &filled(N)));
    assert_eq!(launched.device, 2);
    let said = queued.said();
    let words: Vec<&str> = said.lines().collect();
    assert_eq!(words[..7], ["--timeout", "135", "--max-time", "115", "--device", "3", "--run"]);
    assert!(words[7].contains(" __pto-launch-worker ") && words[7].ends_with(" 100000; rc=$?; exit $rc"), "{said}");
    queued.rig.assert_clean();
}

#[test]
fn how_the_worker_ended_does_not_depend_on_the_queues_exit_code() {
    let queued = Queued::new(RUNS);
    let Some(launched) = queued.launch("segv_in_launcher", LONG) else { return };
    assert!(
        matches!(launched.unwrap().verdict, Verdict::Crashed { signal, phase: Phase::Launch, .. } if signal == "SIGSEGV")
    );
    let launched = queued.launch("exit_3", LONG).unwrap().unwrap();
    assert!(matches!(launched.verdict, Verdict::Exited { code: 3, phase: Phase::Launch, .. }), "{}", launched.verdict);
}

#[test]
fn a_task_that_hangs_is_ended_from_inside() {
    let queued = Queued::new(RUNS);
    let Some(launched) = queued.launch("hang_and_ignore_sigterm", Duration::from_secs(3)) else { return };
    let verdict = launched.unwrap().verdict;
    assert!(matches!(verdict, Verdict::Hung { phase: Phase::Launch, limit_ms: 3000, .. }), "{verdict}");
}

/// As after Ctrl-C: the task belongs to the queue's server, and has to notice that nobody waits for it any more.
#[test]
fn a_task_without_a_client_ends() {
    let queued = Queued::new(DIES);
    let Some(launched) = queued.launch("hang_and_ignore_sigterm", LONG) else { return };
    let verdict = launched.unwrap().verdict;
    assert!(matches!(&verdict, Verdict::Crashed { signal, .. } if signal == "SIGKILL"), "{verdict}");
    queued.rig.assert_clean();
}

#[test]
fn a_queue_that_does_not_run_it_is_no_verdict() {
    let queued = Queued::new(REFUSES);
    let Some(result) = queued.launch("fill", LONG) else { return };
    let error = result.unwrap_err();
    assert!(error.is_about_devices());
    let text = error.to_string();
    assert!(
        text.starts_with("`task-submit` did not run the launch, it ") && text.ends_with("no device within 3 s"),
        "{text}"
    );
}

#[test]
fn inside_of_a_task_there_is_no_second_one() {
    let mut queued = Queued::new(REFUSES);
    queued.cx = queued.cx.with_var("TASK_DEVICE", "3");
    let Some(launched) = queued.launch("fill", LONG) else { return };
    assert_eq!(launched.unwrap().verdict, Verdict::Completed);
}
