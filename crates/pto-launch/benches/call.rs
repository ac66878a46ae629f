//! What a launch adds to its launcher: from the call to its return, in a worker that is warm, against Python's ctypes
//! calling the same launcher of the same library with the same ACL library loaded. `cargo bench -p pto-launch`.
//!
//! The launchers do nothing, so nearly all that is measured is the way to them. Both sides do the same between two calls (fill
//! a buffer, synchronize, copy back), and take the time in the same way, around each call, with what their language has. The exit code is 1 if the median of ours is more than a
//! quarter of the other.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]
#![expect(clippy::disallowed_methods, reason = "it is the measured program's caller")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use pto_context::Context;
use pto_launch::{Argument, Buffer, Init, LaunchRequest, Limits, Scalar, Verdict, Worker};

/// Calls on each side.
const REPEATS: u32 = 20_000;
/// The first ones warm caches up.
const WARM_UP: usize = 1000;
/// What ours may be at most, of the other's.
const MOST: f64 = 0.25;

fn main() -> ExitCode {
    pto_launch::worker::intercept();
    let scratch = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/call.c");
    let library = scratch.path().join("call.so");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("error: no C compiler `cc`");
        return ExitCode::from(3);
    }
    let cx = Context::from_process(std::sync::Arc::new(pto_context::Silent)).unwrap();
    let worker = Worker::this_program().unwrap();
    let acl = pto_launch::host_acl(&cx, worker.program()).unwrap();
    let mut passed = true;
    println!(
        "{:<12} {:>12} {:>12} {:>8}   median of {REPEATS} calls, call to return",
        "launcher", "ours", "ctypes", "ratio"
    );
    for (symbol, arguments) in [("call_four", four()), ("call_twelve", twelve())] {
        let ours = median(ours(&cx, &worker, &acl, &library, symbol, arguments));
        let Some(theirs) = ctypes(&acl, &library, symbol) else { return ExitCode::from(3) };
        let theirs = median(theirs);
        let ratio = ours / theirs;
        passed &= ratio <= MOST;
        println!("{symbol:<12} {ours:>9.0} ns {theirs:>9.0} ns {ratio:>8.3}");
    }
    ExitCode::from(u8::from(!passed))
}

fn buffer(name: &str) -> Argument {
    // The first comes back, as an output does.
    let output = matches!(name, "y" | "a");
    Argument::Buffer(Buffer { name: name.into(), bytes: 4096, init: Init::Pattern(vec![]), output })
}

fn four() -> Vec<Argument> {
    vec![Argument::BlockDim(8), Argument::Stream, buffer("y"), Argument::Scalar(Scalar::U32(1024))]
}

fn twelve() -> Vec<Argument> {
    let numbers = [Scalar::U32(1024), Scalar::U32(512), Scalar::F32(0.5), Scalar::I64(4096)];
    let buffers = ["a", "b", "c", "d", "e", "f"].map(buffer);
    [Argument::BlockDim(8), Argument::Stream].into_iter().chain(buffers).chain(numbers.map(Argument::Scalar)).collect()
}

fn ours(
    cx: &Context,
    worker: &Worker,
    acl: &Path,
    library: &Path,
    symbol: &str,
    arguments: Vec<Argument>,
) -> Vec<Duration> {
    const HOUR: Duration = Duration::from_secs(3600);
    let request = LaunchRequest {
        library: library.to_owned(),
        symbol: symbol.to_owned(),
        arguments,
        acl: vec![PathBuf::from(acl)],
        device: 0,
        memory_limit: None,
        repeats: REPEATS + WARM_UP as u32,
        timing: None,
        limits: Limits { process: HOUR, launch: HOUR, sync: HOUR, teardown: HOUR },
    };
    let launched = pto_launch::launch(cx, worker, &request).unwrap();
    assert_eq!(launched.verdict, Verdict::Completed);
    launched.runs.iter().skip(WARM_UP).map(|run| run.call).collect()
}

fn ctypes(acl: &Path, library: &Path, symbol: &str) -> Option<Vec<Duration>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/call.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(acl)
        .arg(library)
        .arg(symbol)
        .arg((REPEATS + WARM_UP as u32).to_string())
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            eprintln!("error: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Err(error) => {
            eprintln!("error: no `python3`: {error}");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().skip(WARM_UP).map(|line| Duration::from_nanos(line.parse().unwrap())).collect())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64
}
