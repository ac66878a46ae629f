//! Ctrl-C, KILL and two runs at once: whatever comes in between, the next run is as good as the first.

mod scratch;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use scratch::{Ran, Scratch};

const TEST: &[&str] = &["kernel", "test", "./foo", "--case", "n=4096", "--verbose"];
/// Nothing here takes longer, even on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run whose children can be told from all other processes of the machine: they have a variable of its own.
struct Started {
    child: Child,
    mark: String,
}

impl Started {
    fn new(mut command: Command, mark: &str) -> Self {
        let mark = format!("PTOKIT_TEST_MARK={mark}-{}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let child = command
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { child, mark }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until a line on stderr has this.
    fn wait_for(&mut self, text: &str) {
        self.wait_for_lines(text, 1);
    }

    /// Waits until so many lines on stderr have it.
    fn wait_for_lines(&mut self, text: &str, mut count: usize) {
        let stderr = self.child.stderr.as_mut().unwrap();
        let mut seen = String::new();
        for line in BufReader::new(stderr).lines() {
            let line = line.unwrap();
            count -= usize::from(line.contains(text));
            if count == 0 {
                return;
            }
            seen += &(line + "\n");
        }
        panic!("it never said `{text}`:\n{seen}");
    }

    /// Ctrl-C. The exit code, once it and all it started are gone.
    fn interrupt(mut self) -> Ran {
        kill_process(self.pid(), Signal::INT).unwrap();
        let start = Instant::now();
        let status = self.child.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(20), "it took {:?} to end", start.elapsed());
        assert_eq!(status.signal(), None);
        self.all_gone();
        let mut ran = Ran { code: status.code(), stdout: String::new(), stderr: String::new() };
        self.child.stdout.as_mut().unwrap().read_to_string(&mut ran.stdout).unwrap();
        let _ = self.child.stderr.as_mut().unwrap().read_to_string(&mut ran.stderr);
        ran
    }

    fn wait_until(&self, condition: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(start.elapsed() < PATIENCE, "in vain: {:?}", self.alive());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn all_gone(&self) {
        let start = Instant::now();
        while !self.alive().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(10), "still there: {:?}", self.alive());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The command lines of all processes with the mark in their environment.
    fn alive(&self) -> Vec<String> {
        let processes = fs_err::read_dir("/proc").unwrap().filter_map(Result::ok);
        let marked = processes.filter(|entry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
        });
        marked.map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default()).collect()
    }
}

fn passes(scratch: &Scratch) {
    let ran = scratch.run(TEST).expect(0);
    assert!(ran.says("passed: 1 of 1 cases"), "{ran}");
}

#[test]
fn while_it_compiles() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let mut started = Started::new(scratch.plain_command(TEST), "compile");
    started.wait_for(" -c ");
    let ran = started.interrupt().expect(130);
    assert_eq!(ran.stdout, "", "{ran}");
    passes(&scratch);
}

#[test]
fn while_a_kernel_runs() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/foo.cpp", "TADD(yTile, xTile, zTile);", "for (volatile int i = 0;; i = i + 1) {}");
    let mut started = Started::new(scratch.plain_command(TEST), "run");
    started.wait_for("__pto-launch-worker");
    std::thread::sleep(Duration::from_millis(300));
    let ran = started.interrupt().expect(130);
    assert_eq!(ran.stdout, "", "{ran}");
    let record = scratch.generated().join("verification/foo-cpu-interrupted.json");
    assert!(fs_err::read_to_string(record).unwrap().contains(r#""status": "interrupted""#));
    scratch.kernel("foo");
    passes(&scratch);
}

#[test]
fn while_a_kernel_is_benched() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/foo.cpp", "TADD(yTile, xTile, zTile);", "for (volatile int i = 0;; i = i + 1) {}");
    let bench = ["kernel", "bench", "./foo", "--case", "n=4096", "--verbose"];
    let mut started = Started::new(scratch.plain_command(&bench), "bench");
    started.wait_for("__pto-launch-worker");
    let ran = started.interrupt().expect(130);
    assert_eq!(ran.stdout, "", "{ran}");
    assert!(ran.stderr.contains("`target/pto/verification/LOG.md` has the 0 cases"), "{ran}");
    let record = scratch.generated().join("verification/foo-cpu-interrupted-bench.json");
    assert!(fs_err::read_to_string(record).unwrap().contains(r#""status": "interrupted""#));
}

#[test]
fn while_a_golden_command_runs_and_json_is_wanted() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/kernel.toml", r#"expr = { y = "x + z" }"#, r#"command = ["sleep", "300"]"#);
    let mut started = Started::new(scratch.plain_command(&[TEST, &["--json"]].concat()), "golden");
    started.wait_for("sleep 300");
    let ran = started.interrupt().expect(130);
    assert_eq!(ran.json()["error"]["code"], 130, "{ran}");
    assert_eq!(ran.json()["schema"], "ptokit.kernel-test/1", "{ran}");
}

/// The first case is done, the second never ends.
#[test]
fn what_was_done_is_in_the_report() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let endless = "TADD(yTile, xTile, zTile); for (volatile int i = 0; n == 8192; i = i + 1) {}";
    scratch.edit("foo/foo.cpp", "TADD(yTile, xTile, zTile);", endless);
    scratch.edit("foo/kernel.toml", r#"edges = ["n"]"#, "edges = []");
    scratch.edit("foo/kernel.toml", "list = [{ n = 4096 }]", "list = [{ n = 4096 }, { n = 8192 }]");
    let mut started =
        Started::new(scratch.plain_command(&["kernel", "test", "./foo", "--jobs", "1", "--verbose"]), "half");
    // The second begins when the first is done.
    started.wait_for_lines("__pto-launch-worker", 2);
    let ran = started.interrupt().expect(130);
    assert_eq!(ran.stdout, "", "{ran}");
    let report = fs_err::read(scratch.generated().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!((&report["interrupted"], &report["passed"]), (&true.into(), &false.into()));
    let kernel = &report["kernels"][0];
    assert_eq!(kernel["status"], "interrupted");
    let cases: Vec<_> =
        kernel["cases"].as_array().unwrap().iter().map(|case| (&case["case"], &case["status"])).collect();
    assert_eq!(cases, [(&"n=4096".into(), &"passed".into())]);
    scratch.kernel("foo");
    passes(&scratch);
}

/// The golden command takes note of the first and goes on: only the second ends everything on the spot, with nothing
/// written.
#[test]
fn twice() {
    let Some(scratch) = Scratch::new() else { return };
    let noted = scratch.path().join("noted");
    let endless = format!("trap 'touch {}' TERM; while :; do sleep 1; done", noted.display());
    // On a machine that is busy enough the second comes too late, when the golden command was killed for the first.
    let at_once = (0..5).any(|attempt| {
        scratch.kernel("foo");
        let _ = fs_err::remove_file(&noted);
        let golden = format!(r#"command = ["sh", "-c", "{endless}"]"#);
        scratch.edit("foo/kernel.toml", r#"expr = { y = "x + z" }"#, &golden);
        let command = scratch.plain_command(&[TEST, &["--json"]].concat());
        let mut started = Started::new(command, &format!("twice-{attempt}"));
        started.wait_for("while :");
        // The shell has to have come to its loop: until then the first signal would end it.
        started.wait_until(|started| started.alive().iter().any(|line| line.starts_with("sleep\0")));
        kill_process(started.pid(), Signal::INT).unwrap();
        started.wait_until(|_| noted.exists());
        let ran = started.interrupt().expect(130);
        assert!(ran.stdout.is_empty() || ran.json()["error"]["code"] == 130, "{ran}");
        ran.stdout.is_empty() && !scratch.generated().join("report.json").exists()
    });
    assert!(at_once, "the second did no more than the first");
    scratch.kernel("foo");
    passes(&scratch);
}

/// A registry that answers and then sends nothing.
#[test]
fn while_a_package_is_fetched() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let registry = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/simple", registry.local_addr().unwrap());
    let mut command = scratch.plain_command(TEST);
    command.env_remove("PTO_LIB_PATH").env("PTOKIT_HOME", scratch.path().join("home"));
    command.env("PIP_INDEX_URL", &url).env("UV_INDEX_URL", &url).env("UV_DEFAULT_INDEX", &url);
    let started = Started::new(command, "fetch");
    let (mut connection, _) = registry.accept().unwrap();
    connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n").unwrap();
    let _ = started.interrupt().expect(130);
    passes(&scratch);
}

/// What only reads has nothing to end in order, and may wait for a reader that does not come: the system's own answer to the
/// first Ctrl-C has to be left as it is, whatever such a verb is at.
#[test]
fn the_first_ends_what_only_reads() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    passes(&scratch);
    scratch.write("a.npy", "no tensor");
    let report = fs_err::read(scratch.generated().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let library = report["kernels"][0]["build"]["library"].as_str().unwrap();
    for args in [
        &["kernel", "list", "."][..],
        &["kernel", "lint", "foo"],
        &["kernel", "log"],
        &["kernel", "inspect", library],
        &["golden", "compare", "a.npy", "a.npy"],
        &["triage", "507015"],
    ] {
        let (_unread, full) = full_pipe();
        let mut command = scratch.plain_command(args);
        command.stdin(Stdio::null()).stdout(full.try_clone().unwrap()).stderr(full);
        let mut child = command.spawn().unwrap();
        let status = || fs_err::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let stands =
            |field: &str| status().lines().find_map(|line| line.strip_prefix(field).map(str::trim).map(str::to_owned));
        let program = || fs_err::read_link(format!("/proc/{}/exe", child.id())).unwrap();
        let start = Instant::now();
        while program() != std::path::Path::new(env!("CARGO_BIN_EXE_xtask")).canonicalize().unwrap()
            || !stands("State:").unwrap().starts_with('S')
        {
            assert!(start.elapsed() < PATIENCE, "{args:?} does not wait: {}", status());
            std::thread::sleep(Duration::from_millis(10));
        }
        let caught = u64::from_str_radix(&stands("SigCgt:").unwrap(), 16).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.signal(), Some(Signal::INT.as_raw()), "{args:?}");
        assert_eq!(caught >> (Signal::INT.as_raw() - 1) & 1, 0, "{args:?} catches it");
    }
}

/// A pipe into which nobody can write a byte until somebody reads.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

#[test]
fn two_at_once() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let both = ["a", "b"].map(|mark| Started::new(scratch.plain_command(TEST), mark));
    for run in both {
        let output = run.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", Ran::from(output));
    }
}

/// KILL cannot be answered: nothing may depend on an orderly end.
#[test]
fn killed_at_twenty_moments() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let start = Instant::now();
    passes(&scratch);
    let whole = start.elapsed();
    for moment in 0..20 {
        fs_err::remove_dir_all(scratch.path().join("target")).unwrap_or_default();
        let run = Started::new(scratch.plain_command(TEST), &format!("kill-{moment}"));
        std::thread::sleep(whole.mul_f64(f64::from(moment) / 20.0));
        let _ = kill_process_group(run.pid(), Signal::KILL);
        let output = run.child.wait_with_output().unwrap();
        assert!(output.status.success() || output.status.signal() == Some(9), "{}", Ran::from(output));
    }
    passes(&scratch);
    assert!(start.elapsed() < PATIENCE, "it took {:?}", start.elapsed());
}
