//! Builds that are killed, that meet, and that are called off while they wait. Each is this program, started again.

mod support;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use pto_build::{BuildOptions, Decision, build, plan_build};
use pto_context::{Event, EventSink, Recorder};
use pto_process::{Invocation, Output, Stream};
use pto_test::pypto::Binding;
use rustix::process::{Pid, Signal, kill_process};
use support::{Site, edit, sources, steps};

/// How often a build is killed, unless `PTOKIT_KILLS` says so.
const KILLS: usize = 5;
const MARK: &str = "EVENT ";

/// Writes every event as a line.
struct Lines;

impl EventSink for Lines {
    fn event(&self, event: Event) {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{MARK}{event:?}").and_then(|()| stdout.flush());
    }
}

/// What the other tests start as a process of its own.
#[test]
#[ignore = "started by the other tests"]
fn a_build_of_its_own() {
    pto_process::interrupt::install().unwrap();
    let cx = pto_test::machine().with_events(Arc::new(Lines));
    let isa = Path::new(&cx.var("PYPTO_SRC").unwrap()).with_file_name("remotes").join("pto-isa.git");
    let isa = isa.display().to_string();
    let built = build(&cx, &BuildOptions { pto_isa: sources(&isa, &isa), ..BuildOptions::default() });
    assert!(built.as_ref().is_err_and(pto_build::Error::is_interrupted) || built.is_ok(), "{built:?}");
    println!("{MARK}ended: {}", if built.is_ok() { "well" } else { "interrupted" });
}

/// Starts one and hands its events on, with what ends it.
fn started(site: &Site, mut on_event: impl FnMut(usize, &str, Pid)) -> Output {
    let program = std::env::current_exe().unwrap();
    let child = Invocation::new(program).args(["--exact", "a_build_of_its_own", "--ignored", "--nocapture"]);
    let running = child.deadline(pto_test::host::PATIENCE * 4).start(&site.cx()).unwrap();
    let pid = Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap();
    let mut count = 0;
    let on_line = |stream, line: &str| {
        // The harness writes before the first event, on the same line.
        if let (Stream::Stdout, Some((_, event))) = (stream, line.split_once(MARK)) {
            count += 1;
            on_event(count, event, pid);
        }
    };
    running.wait_streaming(on_line).unwrap()
}

#[test]
fn whenever_a_build_is_killed_the_next_one_completes() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let mut events = 0;
    assert!(started(&site, |count, _, _| events = count).success());
    let kills = pto_test::machine().var("PTOKIT_KILLS").and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let source = site.project.checkout().join("src/core/version.cpp");
    let ring = site.runtime().join("src/common/ring.h");
    for kill in 1..=kills {
        // From the first event to the last, and at both kinds of builds: one that goes on, and one from scratch.
        let at = 1 + kill * (events - 1) / kills;
        fs_err::write(&source, format!("const char *pypto_version() {{ return \"0.{kill}\"; }}\n")).unwrap();
        fs_err::write(&ring, format!("#pragma once\n#define RING_SLOTS {kill}\nint ring_slots();\n")).unwrap();
        if kill % 2 == 0 {
            fs_err::remove_file(site.project.checkout().join("build/.ptokit-build.json")).unwrap();
        }
        started(&site, |count, _, pid| {
            if count == at {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        build(&site.cx(), &site.options()).unwrap();
        let seen = site.project.python("import pypto, simpler; print(pypto.version(), simpler.slots)");
        assert_eq!(seen, format!("0.{kill} {kill}"), "killed at event {at} of {events}");
        assert_eq!(plan_build(&site.cx(), &site.options()).unwrap().decision, Decision::Incremental);
        let names = fs_err::read_dir(site.project.checkout().join(".git")).unwrap();
        let left: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!left.iter().any(|name| name.starts_with("ptokit-")), "{left:?}");
    }
}

#[test]
fn a_build_that_is_killed_before_its_end_is_not_gone_on_with() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    build(&site.cx(), &site.options()).unwrap();
    edit(&site.project.checkout().join("src/core/version.cpp"), "0.1.0", "0.2.0");
    started(&site, |_, event, pid| {
        if event.starts_with("Steps") {
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let plan = plan_build(&site.cx(), &site.options()).unwrap();
    assert!(!plan.decision.is_incremental(), "objects of a killed build would be taken for whole");
}

/// A compiler that writes half an object of one source and then waits for its end, while `stuck` is there.
const STUCK: &str = r#"
case "$*" in *version.cpp*) if [ -p "$0.stuck" ]; then
    for word; do [ "${last:-}" = -o ] && printf half >"$word"; last=$word; done
    read -r never <"$0.stuck"
fi ;; esac
exec g++ "$@""#;

#[test]
fn a_build_that_is_called_off_is_gone_on_with() {
    let Some(mut site) = Site::new(Binding::Plain) else { return };
    let compiler = site.program("stuck-g++", STUCK);
    let stuck = compiler.with_file_name("stuck-g++.stuck");
    site.set("CXX", &compiler);
    // Not behind a cache of compilers, which lets none of them write to the real place.
    site.program("ccache", "exec \"$@\"");
    build(&site.cx(), &site.options()).unwrap();
    site.project.run(Invocation::new("mkfifo").arg(&stuck));
    edit(&site.project.checkout().join("src/core/version.cpp"), "0.1.0", "0.2.0");
    edit(&site.project.checkout().join("src/core/answer.cpp"), "return 40", "return 41");
    // The other source is done; this one never will be.
    let output = started(&site, |_, event, pid| {
        if event.starts_with("Steps") {
            kill_process(pid, Signal::INT).unwrap();
        }
    });
    assert!(output.stdout.text().contains("ended: interrupted"), "{}", output.stdout.text());
    fs_err::remove_file(&stuck).unwrap();
    let events = Arc::new(Recorder::default());
    let built = build(&site.cx().with_events(events.clone()), &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Incremental);
    assert_eq!(steps(&events, "build:native"), 2, "one source and the extension");
    assert_eq!(site.project.python("import pypto; print(pypto.answer(), pypto.version())"), "43 0.2.0");
}

#[test]
fn a_runtime_that_is_called_off_is_made_anew_and_the_rest_is_kept() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    build(&site.cx(), &site.options()).unwrap();
    let half = site.runtime().join("build/half.o");
    fs_err::write(&half, "half").unwrap();
    started(&site, |_, event, pid| {
        if event.starts_with("Started") && event.contains("Making the runtime's wheel") {
            kill_process(pid, Signal::INT).unwrap();
        }
    });
    assert!(!half.exists());
    let events = Arc::new(Recorder::default());
    let built = build(&site.cx().with_events(events.clone()), &site.options()).unwrap();
    assert_eq!((built.plan.decision, steps(&events, "build:native")), (Decision::Incremental, 0));
    let names = fs_err::read_dir(site.project.checkout().join(".git")).unwrap();
    assert!(!names.flatten().any(|name| name.file_name().to_string_lossy().starts_with("ptokit-")), "swept");
}

#[test]
fn of_two_at_once_one_waits_and_says_for_whom() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let events = [(); 2].map(|()| Arc::new(Recorder::default()));
    let built = std::thread::scope(|scope| {
        let start = |events: &Arc<Recorder>| {
            let cx = site.cx().with_events(events.clone());
            let options = site.options();
            scope.spawn(move || build(&cx, &options).unwrap().plan.decision)
        };
        let threads = events.each_ref().map(start);
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(built.iter().filter(|decision| decision.is_incremental()).count(), 1, "{built:?}");
    let waiting = |events: &Arc<Recorder>| {
        events.events().into_iter().find_map(|event| match event {
            Event::Started { message, .. } if message.starts_with("Waiting") => Some(message),
            _ => None,
        })
    };
    let told: Vec<String> = events.iter().filter_map(waiting).collect();
    let [message] = &told[..] else { panic!("{told:?}") };
    let expected =
        format!("Waiting for the build of `{}` by process {}", site.project.checkout().display(), std::process::id());
    assert!(message.starts_with(&expected), "{message}");
}

#[test]
fn a_wait_is_called_off_by_ctrl_c() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let dir = std::fs::File::open(site.project.checkout()).unwrap();
    dir.lock().unwrap();
    let output = started(&site, |_, event, pid| {
        if event.contains("Waiting for the build of") {
            kill_process(pid, Signal::INT).unwrap();
        }
    });
    assert!(output.success() && output.stdout.text().contains("ended: interrupted"), "{}", output.stdout.text());
    assert!(!site.project.checkout().join("build").exists());
}
