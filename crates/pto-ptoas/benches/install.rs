//! Download, verification and installation of a wheel as large as a release's, from a server on this machine, against `curl`,
//! `sha256sum` and `uv pip install` one after the other; and the memory that it takes for wheels of several sizes.
//!
//! `cargo bench -p pto-ptoas`. It needs `curl`, `sha256sum`, `uv` and Python. The other way does less: its environment is there
//! already, it compares no file with `RECORD`, writes nothing through to the disk and starts nothing.
#![allow(clippy::print_stdout, reason = "a benchmark, not a library")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_loopback::{Reply, Server};
use pto_process::Invocation;
use pto_ptoas::{InstallOptions, Layout, PinSource, Source, install};
use pto_store::Store;
use support::{Offer, Wheel, World};

/// Runs of each way.
const RUNS: usize = 7;

/// The size that a release's wheel unpacks to, in files of which each is like a library.
const FILES: usize = 500;
const FILE_BYTES: usize = 620_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, url, pins, root, store] = args.as_slice()
        && flag == "--install"
    {
        return install_once(url, pins, root, store);
    }
    time();
    memory();
}

/// What the installer does, in a process of its own, with the most memory that it had. The wheel is for the Python that is here
/// and not for that of a release, so its own address is given.
fn install_once(url: &str, pins: &str, root: &str, store: &str) {
    let options = InstallOptions {
        pin: PinSource { file: Some(pins.into()), ..PinSource::default() },
        source: Source::Url(url.to_owned()),
        root: Some(root.into()),
        ..InstallOptions::default()
    };
    install(&support::machine(), &Store::open(store), &options).expect("the installation works");
    let status = fs_err::read_to_string("/proc/self/status").expect("this is Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    println!("{}", peak.trim().trim_end_matches(" kB"));
}

fn time() {
    let bench = Bench::new(FILES);
    println!("wheel of {:.1} MB, unpacked {:.0} MB", bench.megabytes(), (FILES * FILE_BYTES) as f64 / 1e6);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let (a, b) = (bench.ours().0, bench.theirs());
        // The first run of each warms the page cache.
        if run > 0 {
            ours.push(a);
            theirs.push(b);
        }
    }
    let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    println!("ptoas install                        {:.2?} (median of {RUNS})", median(&mut ours));
    println!("curl, sha256sum, uv pip install      {:.2?}", median(&mut theirs));
    println!(
        "ratio, pair by pair                  {:.2} (from {:.2} to {:.2})",
        ratios[RUNS / 2],
        ratios[0],
        ratios[RUNS - 1]
    );
}

fn memory() {
    for files in [FILES / 10, FILES, FILES * 2] {
        let bench = Bench::new(files);
        println!("peak memory for a wheel of {:>6.1} MB  {:.1} MB", bench.megabytes(), bench.ours().1 as f64 / 1e3);
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A server with one wheel.
struct Bench {
    world: World,
    server: Server,
    offer: Offer,
    path: String,
}

impl Bench {
    fn new(files: usize) -> Self {
        let world = World::new();
        let mut wheel = Wheel::new("0.61", Layout::PackageDirectory);
        for index in 0..files {
            wheel.files.push((format!("ptoas/lib/{index}.so"), 0o755, library(index as u64)));
        }
        let offer = world.offer(&wheel);
        let name = offer.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = format!("/v0.61/{name}");
        let server = Server::start().expect("a free port");
        server.script(&path, [Reply::body(fs_err::read(&offer.file).expect("it was just written"))]);
        Self { world, server, offer, path }
    }

    fn megabytes(&self) -> f64 {
        fs_err::metadata(&self.offer.file).map_or(0.0, |meta| meta.len() as f64 / 1e6)
    }

    fn fresh(&self, name: &str) -> PathBuf {
        let dir = self.world.path(name);
        let _ = std::fs::remove_dir_all(&dir);
        fs_err::create_dir_all(&dir).expect("a fresh directory");
        dir
    }

    /// Time and peak memory, in kilobytes.
    fn ours(&self) -> (Duration, u64) {
        let dir = self.fresh("ours");
        let program = std::env::current_exe().expect("this program");
        let start = Instant::now();
        let install = Invocation::new(program)
            .args(["--install", &self.server.url(&self.path)])
            .arg(&self.offer.pins)
            .arg(dir.join("ptoas"))
            .arg(dir.join("store"));
        let output = install.run(&self.cx()).and_then(pto_process::Output::require_success);
        let (took, output) = (start.elapsed(), output.expect("the installation works"));
        (took, output.stdout.text().trim().parse().unwrap_or_default())
    }

    fn theirs(&self) -> Duration {
        let dir = self.fresh("theirs");
        let venv = format!("uv venv --quiet --offline --python '{}' venv", self.world.python.0.display());
        self.sh(&venv, &dir);
        let file = self.offer.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (url, sha256) = (self.server.url(&self.path), &self.offer.sha256);
        let script = format!(
            "set -e; curl -sSfo '{file}' '{url}'; echo '{sha256}  {file}' | sha256sum -c --quiet; \
             UV_CACHE_DIR=$PWD/cache uv pip install --quiet --offline --no-deps --python venv/bin/python '{file}'"
        );
        let start = Instant::now();
        self.sh(&script, &dir);
        start.elapsed()
    }

    fn sh(&self, script: &str, dir: &Path) {
        let run = Invocation::new("sh").args(["-c", script]).cwd(dir).run(&self.cx());
        run.and_then(pto_process::Output::require_success).expect("the other way works");
    }

    fn cx(&self) -> Context {
        Context::fake("/", self.world.vars())
    }
}

/// Bytes that deflate to about a fifth, as a library's do.
fn library(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(FILE_BYTES);
    while bytes.len() < FILE_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(&state.to_le_bytes()[..3]);
        bytes.extend([state as u8 & 3; 17]);
    }
    bytes.truncate(FILE_BYTES);
    bytes
}
