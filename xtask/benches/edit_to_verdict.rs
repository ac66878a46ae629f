//! How long an author waits: from an edit to the verdict, and when nothing changed; beside a plain compile of the same
//! source with the same compiler and flags, which has the verdict still before it.
//!
//! `cargo bench -p xtask --bench edit_to_verdict [-- KERNEL...]`. Medians over [`ROUNDS`] rounds, in seconds. Needs the
//! headers and a compiler, as `cargo xtask quickstart` sets them up.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pto_compile::cpu::Toolchain;
use pto_context::{Context, Silent};
use pto_kernel::Manifest;
use pto_kernel::run::{CpuTools, Fetching, Setup, cpu_request, soc_for};
use pto_launch::Worker;
use pto_platform::Target;
use pto_process::Invocation;
use pto_store::Store;

const ROUNDS: usize = 5;
/// One of each kind; together they take about a minute.
const KERNELS: [&str; 5] = ["static_add", "vec_add", "softmax", "matmul", "matmul_add"];

fn main() -> Result<(), Box<dyn Error>> {
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let kernels: Vec<&str> =
        if named.is_empty() { KERNELS.to_vec() } else { named.iter().map(String::as_str).collect() };
    let cx = Context::from_process(Arc::new(Silent))?;
    let scratch = tempfile::tempdir()?;
    let setup = setup(&cx, scratch.path())?;
    let tools = CpuTools::find(&cx, &setup)?;
    println!("{}, {}", tools.toolchain.compiler.describe(), tools.headers.why);
    println!(
        "{:12} {:>14} {:>16} {:>7} {:>11} {:>12} {:>7}",
        "kernel", "plain compile", "edit to verdict", "ratio", "unchanged", "kernel's own", "rest"
    );
    for kernel in kernels {
        let figures = measure(&cx, &setup, &tools.toolchain, kernel, scratch.path())?;
        println!("{kernel:12} {figures}");
    }
    Ok(())
}

fn setup(cx: &Context, scratch: &Path) -> Result<Setup, Box<dyn Error>> {
    Ok(Setup {
        pto_isa: None,
        cxx: None,
        fetching: Fetching::Allowed,
        opt_level: 1,
        shared: Store::open(Store::default_root(cx)?),
        artifacts: Store::open(scratch.join("artifacts")),
        worker: Worker::at(env!("CARGO_BIN_EXE_xtask")),
    })
}

/// Medians of one kernel.
struct Figures {
    plain: Duration,
    edited: Duration,
    unchanged: Duration,
    own: Duration,
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = |duration: Duration| duration.as_secs_f64();
        write!(
            f,
            "{:14.2} {:16.2} {:7.2} {:11.2} {:12.2} {:7.2}",
            seconds(self.plain),
            seconds(self.edited),
            seconds(self.edited) / seconds(self.plain),
            seconds(self.unchanged),
            seconds(self.own),
            seconds(self.unchanged.saturating_sub(self.own)),
        )
    }
}

fn measure(
    cx: &Context,
    setup: &Setup,
    toolchain: &Toolchain,
    kernel: &str,
    scratch: &Path,
) -> Result<Figures, Box<dyn Error>> {
    let dir = copy_example(kernel, scratch)?;
    let target = scratch.join("target");
    verdict(cx, &dir, &target)?;
    let (mut plain, mut edited, mut unchanged, mut own) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        edit(&dir, round)?;
        plain.push(plain_compile(cx, setup, toolchain, &dir, scratch)?);
        edited.push(verdict(cx, &dir, &target)?.0);
        let (whole, kernels_own) = verdict(cx, &dir, &target)?;
        unchanged.push(whole);
        own.push(kernels_own);
    }
    Ok(Figures { plain: median(plain), edited: median(edited), unchanged: median(unchanged), own: median(own) })
}

fn copy_example(kernel: &str, scratch: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(kernel);
    let to = scratch.join(kernel);
    fs_err::create_dir_all(&to)?;
    for entry in fs_err::read_dir(&from)? {
        let path = entry?.path();
        fs_err::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(to)
}

/// What an author does: the source is another one than before.
fn edit(dir: &Path, round: usize) -> Result<(), Box<dyn Error>> {
    let manifest = Manifest::load(&dir.join("kernel.toml"))?;
    let source = &manifest.sources[0];
    let text = fs_err::read_to_string(source)?;
    fs_err::write(source, format!("{text}// edit {round}\n"))?;
    Ok(())
}

/// One case, as the command line runs it: the whole process, and the case alone.
fn verdict(cx: &Context, dir: &Path, target: &Path) -> Result<(Duration, Duration), Box<dyn Error>> {
    let start = Instant::now();
    let output = Invocation::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["kernel", "test", "--json", "--quiet", "--case", "1"])
        .arg(dir)
        .env("CARGO_TARGET_DIR", target)
        .run(cx)?
        .require_success()?;
    let whole = start.elapsed();
    let report: serde_json::Value = serde_json::from_slice(output.stdout.bytes())?;
    let own = report["kernels"][0]["cases"][0]["seconds"].as_f64().ok_or("the report has no case")?;
    Ok((whole, Duration::from_secs_f64(own)))
}

/// The same source without a precompiled header, into a store that holds nothing.
fn plain_compile(
    cx: &Context,
    setup: &Setup,
    toolchain: &Toolchain,
    dir: &Path,
    scratch: &Path,
) -> Result<Duration, Box<dyn Error>> {
    let manifest = Manifest::load(&dir.join("kernel.toml"))?;
    let soc = soc_for(&manifest, Target::Cpu, None)?;
    let mut request = cpu_request(&manifest, soc, setup.opt_level)?;
    request.precompiled = false;
    let fresh = Store::open(scratch.join("plain"));
    let artifact = pto_compile::cpu::build(cx, &setup.shared, &fresh, toolchain, &request)?;
    fs_err::remove_dir_all(fresh.root())?;
    Ok(artifact.duration)
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort();
    durations[durations.len() / 2]
}
