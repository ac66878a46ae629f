//! What a build costs when nothing changed, against the same commands typed by hand: `cmake --build`, then the runtime's
//! wheel made and installed. Both alternate, so that whatever else the machine does meets both; medians count.
//!
//! `cargo bench -p pto-build`. It needs CMake, Ninja, `uv` and Python with pybind11 and scikit-build-core. The other way does
//! less: it looks at no input, no pin and no product.
#![allow(clippy::print_stdout, reason = "a benchmark, not a library")]

use std::path::Path;
use std::time::{Duration, Instant};

use pto_build::{BuildOptions, PtoIsaSources, build};
use pto_process::Invocation;
use pto_test::pypto::{Binding, Project, Python};

/// How often each is timed.
const PAIRS: usize = 21;
/// What a build may cost at most of what the commands cost.
const LIMIT: f64 = 1.3;

fn main() {
    let Some(python) = Python::find() else { return };
    let project = Project::new(Binding::Pybind11);
    project.install(&python);
    let url = project.remote("pto-isa").display().to_string();
    let sources = PtoIsaSources { mirror: url.clone(), url, ..PtoIsaSources::default() };
    let options = BuildOptions { pto_isa: sources, ..BuildOptions::default() };
    let built = build(&project.cx(), &options).unwrap();
    let ours = || drop(build(&project.cx(), &options).unwrap());
    let by_hand = || by_hand(&project, &built.wheel);
    // The first run of each warms the caches of the system and of uv.
    ours();
    by_hand();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..PAIRS {
        times[0].push(timed(by_hand));
        times[1].push(timed(ours));
    }
    let [commands, ours] = times.map(median);
    let ratio = ours.as_secs_f64() / commands.as_secs_f64();
    println!(
        "the commands {commands:.0?}, a build {ours:.0?}: {ratio:.2} times, at most {LIMIT}; medians of {PAIRS} pairs"
    );
    assert!(ratio <= LIMIT, "a build that changes nothing costs too much");
}

/// What somebody types who knows that nothing else is needed.
fn by_hand(project: &Project, wheel: &Path) {
    let (home, checkout) = (project.home(), project.checkout());
    let (python, uv) = (home.join("venv/bin/python"), home.join("bin/uv"));
    let path = format!("{}:{}", home.join("venv/bin").display(), project.cx().var("PATH").unwrap_or_default());
    let run = |command: Invocation| drop(project.run(command.cwd(&checkout).env("PATH", &path)));
    run(Invocation::new("cmake").args(["--build", "build", "--parallel", "2"]));
    let make = Invocation::new(&uv).args(["build", "--wheel", "--no-build-isolation", "--python"]).arg(&python);
    run(make.arg("--out-dir").arg(wheel.parent().unwrap()).arg("runtime"));
    let install = Invocation::new(&uv).args(["pip", "install", "--no-deps", "--no-index", "--reinstall", "--python"]);
    run(install.arg(&python).arg(wheel));
}

fn timed(work: impl Fn()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
