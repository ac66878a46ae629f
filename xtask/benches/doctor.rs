//! How long an examination takes: wall time, and processor time with everything it starts, beside the programs that it
//! waits for. On a machine that is busy the second is the one to compare.
//!
//! `cargo bench -p xtask --bench doctor`. Medians over [`ROUNDS`] rounds, in milliseconds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pto_context::{Context, Silent};
use pto_process::Invocation;

const ROUNDS: u32 = 21;

fn main() -> Result<(), Box<dyn Error>> {
    let cx = Context::from_process(Arc::new(Silent))?;
    let xtask = env!("CARGO_BIN_EXE_xtask");
    let python = ["python3", "-B", "-c", "pass"];
    let commands: [(&str, &[&str]); 6] = [
        ("doctor", &[xtask, "doctor"]),
        ("doctor --only host", &[xtask, "doctor", "--only", "host"]),
        ("devices", &[xtask, "devices"]),
        ("python3 -c pass", &python),
        ("clang++ --version", &["clang++", "--version"]),
        ("docker info", &["docker", "info"]),
    ];
    println!("{:20} {:>8} {:>12}", "command", "wall ms", "processor ms");
    for (name, words) in commands {
        let command = Invocation::new(words[0]).args(words[1..].iter().copied());
        match measure(&cx, &command) {
            Ok((wall, processor)) => println!("{name:20} {:8.1} {processor:12.1}", wall.as_secs_f64() * 1e3),
            Err(error) => println!("{name:20} {error}"),
        }
    }
    Ok(())
}

/// Median wall time, and mean processor time in milliseconds: the kernel counts it in ticks that are longer than a run.
fn measure(cx: &Context, command: &Invocation) -> Result<(Duration, f64), Box<dyn Error>> {
    command.run(cx)?; // warms the caches
    let before = processor_ticks()?;
    let mut walls = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        command.run(cx)?;
        walls.push(start.elapsed());
    }
    let ticks = processor_ticks()? - before;
    walls.sort();
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    Ok((walls[walls.len() / 2], ticks as f64 / per_second * 1e3 / f64::from(ROUNDS)))
}

/// `cutime` and `cstime` of `/proc/self/stat`: of children that ended, and of theirs.
fn processor_ticks() -> Result<u64, Box<dyn Error>> {
    let stat = fs_err::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in `/proc/self/stat`")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Ok(fields[13].parse::<u64>()? + fields[14].parse::<u64>()?)
}
