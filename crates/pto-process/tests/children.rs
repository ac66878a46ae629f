//! Real children: streams, status, environment, masking.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pto_context::{Context, Event, Recorder};
use pto_process::{Error, Invocation, Status, Stdin, Stream};

fn cx() -> Context {
    Context::fake("/", [("PATH", "/usr/bin:/bin"), ("FROM_CONTEXT", "yes")])
}

fn sh(script: &str) -> Invocation {
    Invocation::new("sh").args(["-c", script])
}

#[test]
fn both_streams_and_the_exit_code_are_kept() {
    let output = sh("echo out; echo err >&2; exit 3").run(&cx()).unwrap();
    assert_eq!(output.status, Status::Exited(3));
    assert_eq!((output.stdout.text().as_ref(), output.stderr.text().as_ref()), ("out\n", "err\n"));
    assert_eq!(output.argv, ["sh", "-c", "echo out; echo err >&2; exit 3"]);
}

#[test]
fn the_environment_is_the_contexts_and_not_ours() {
    let output = sh("env").env("ADDED", "1").run(&cx()).unwrap();
    let text = output.stdout.text();
    let names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"FROM_CONTEXT") && names.contains(&"ADDED"), "{text}");
    // Every test run has `CARGO_MANIFEST_DIR`; a child that sees it has been given our environment.
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{text}");
}

#[test]
fn a_child_that_asks_gets_end_of_file() {
    assert_eq!(sh("read answer || echo nothing").run(&cx()).unwrap().stdout.text(), "nothing\n");
}

#[test]
fn bytes_given_as_input_arrive_whole() {
    let input = vec![b'x'; 1 << 20];
    let output = sh("wc -c").stdin(Stdin::Bytes(input)).run(&cx()).unwrap();
    assert_eq!(output.stdout.text().trim(), "1048576");
}

#[test]
fn a_child_that_does_not_read_its_input_is_no_error() {
    assert!(sh("exit 0").stdin(Stdin::Bytes(vec![b'x'; 1 << 20])).run(&cx()).unwrap().success());
}

#[test]
fn huge_output_on_both_pipes_neither_blocks_nor_fills_the_memory() {
    // 32 MB on each stream, at once; a pipe holds 64 kB.
    let script = "head -c 32000000 /dev/zero & head -c 32000000 /dev/zero >&2; wait; echo END; echo END >&2";
    let output = sh(script).capture_limit(1000).run(&cx()).unwrap();
    for stream in [&output.stdout, &output.stderr] {
        assert_eq!(stream.dropped(), 32_000_000 + 4 - 1000);
        assert!(stream.len() < 1100 && stream.ends_with(b"END\n"));
    }
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    let output = sh("ulimit -c 0; kill -SEGV $$").run(&cx()).unwrap();
    assert_eq!(output.status, Status::Signaled { signal: 11, core: false });
    let error = output.require_success().unwrap_err();
    assert_eq!(error.to_string(), "`sh` was ended by signal 11 (SIGSEGV)");
}

#[test]
fn lines_come_while_the_child_runs() {
    // The child waits for a file that is only made when its first line has been seen.
    let dir = tempfile::tempdir().unwrap();
    let script = "echo first; while ! [ -e go ]; do sleep 0.02; done; printf last";
    let mut seen = Vec::new();
    let output = sh(script)
        .cwd(dir.path())
        .run_streaming(&cx(), |stream, line| {
            assert_eq!(stream, Stream::Stdout);
            if seen.is_empty() {
                fs_err::write(dir.path().join("go"), "").unwrap();
            }
            seen.push(line.to_owned());
        })
        .unwrap();
    assert_eq!((seen, output.stdout.text().as_ref()), (vec!["first".into(), "last".into()], "first\nlast"));
}

#[test]
fn a_panic_in_the_callback_ends_the_child() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; echo line; exec sleep 60";
    let result = std::panic::catch_unwind(|| {
        sh(script).cwd(dir.path()).run_streaming(&cx(), |_, _| panic!("on purpose")).unwrap()
    });
    assert!(result.is_err());
    let pid = fs_err::read_to_string(dir.path().join("pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn secrets_are_masked_wherever_people_look() {
    let events = Arc::new(Recorder::default());
    let script = "echo \"token=$TOKEN\" >&2; echo http://me:pw@host/; exit 1";
    let invocation = sh(script).env("TOKEN", "hunter2").secret("hunter2").arg("--key=hunter2");
    let mut lines = String::new();
    let output = invocation.run_streaming(&cx().with_events(events.clone()), |_, line| lines += line).unwrap();

    assert_eq!(output.stderr.text(), "token=hunter2\n");
    assert_eq!(output.stderr.masked(), "token=***\n");
    assert_eq!(output.stdout.masked(), "http://***@host/\n");
    assert_eq!(output.last_words(5), "token=***");
    let line = output.line.clone();
    let error = output.require_success().unwrap_err();
    let shown = format!("{lines} {error} {error:?} {:?} {line} {:?}", error.hint(), events.events());
    assert!(!shown.contains("hunter2") && !shown.contains("me:pw"), "{shown}");
    assert_eq!(events.events(), [Event::Command { line }]);
}

#[test]
fn a_program_that_is_not_there_is_reported_with_what_was_searched() {
    let cx = Context::fake("/", [("PATH", "/nowhere:/usr/bin")]);
    let error = Invocation::new("bisheng-x").run(&cx).unwrap_err();
    assert_eq!(error.to_string(), "program `bisheng-x` not found; searched `/nowhere`, `/usr/bin`");
    assert!(error.hint().unwrap().contains("`PATH`"));

    let error = Invocation::new("./tool").run(&cx).unwrap_err();
    assert_eq!(error.to_string(), "program `./tool` not found; searched `/./tool`");

    let bare = Context::fake("/", [("A", "1")]);
    let error = Invocation::new("sh").run(&bare).unwrap_err();
    assert!(error.hint().unwrap().contains("`PATH` is not set"), "{error}");
}

#[test]
fn a_script_whose_interpreter_is_missing_is_reported_as_such() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tool");
    fs_err::write(&file, "#!/no/such/interpreter\n").unwrap();
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = Invocation::new(&file).run(&cx()).unwrap_err();
    assert!(
        matches!(&error, Error::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound),
        "{error:?}"
    );
    assert!(error.hint().unwrap().contains("interpreter"));
}

#[test]
fn a_working_directory_that_is_not_there_is_named() {
    let error = sh("pwd").cwd("/no/such/dir").run(&cx()).unwrap_err();
    assert_eq!(error.to_string(), "cannot run `sh` in `/no/such/dir`: not a directory");
}

#[test]
fn a_program_written_a_moment_ago_can_be_run_while_others_start_too() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let dir: PathBuf = dir.path().into();
            scope.spawn(move || {
                for turn in 0..10 {
                    let tool = dir.join(format!("tool-{worker}-{turn}"));
                    fs_err::write(&tool, "#!/bin/sh\necho ok\n").unwrap();
                    fs_err::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
                    assert_eq!(Invocation::new(&tool).run(&cx()).unwrap().stdout.text(), "ok\n");
                }
            });
        }
    });
}
