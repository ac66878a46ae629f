//! Times the comparison of two tensors with every statistic on, beside the bandwidth at which this machine reads memory.
//! `scripts/speed.py` runs it next to NumPy.
//!
//! ```text
//! cargo run --release -p pto-golden --example speed [MEBI_ELEMENTS]
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::hint::black_box;
use std::time::Instant;

use pto_golden::{DType, Options, Rule, Tensor, judge};
use rayon::prelude::*;

/// The best of so many: what else runs on the machine only makes it slower.
const RUNS: usize = 7;

fn best(mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(one).fold(f64::INFINITY, f64::min)
}

/// Seconds of processor time that this process took so far, on all cores.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// The best wall time and the mean processor time.
fn measured(run: impl FnMut()) -> (f64, f64) {
    let before = processor_seconds();
    let wall = best(run);
    (wall, (processor_seconds() - before) / RUNS as f64)
}

/// Bytes like those of a kernel that rounds a little differently: normal values, one in four a step off.
fn pair(dtype: DType, len: usize) -> (Tensor, Tensor) {
    let period = (1 << 20).min(len);
    let fill = pto_golden::Fill::default_for(dtype);
    let some = fill.generate(dtype, [period], 1, "x").expect("the fill is sound");
    let size = dtype.size();
    let mut near = some.bytes().to_vec();
    if dtype.is_float() {
        near.chunks_exact_mut(size).step_by(4).for_each(|element| element[0] ^= 1);
    }
    let tensor = |bytes: &[u8]| {
        let bytes = bytes.iter().copied().cycle().take(len * size).collect();
        Tensor::new(dtype, [len], bytes).expect("it has that many")
    };
    (tensor(&near), tensor(some.bytes()))
}

fn main() {
    let mebi: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(64);
    let len = mebi << 20;
    let words: Vec<u64> = (0..(len as u64) / 2).collect(); // as many bytes as two f16 tensors
    let (read, read_cpu) = measured(|| {
        let fold = |part: &[u64]| part.iter().fold(0u64, |sum, word| sum ^ word);
        let sum = words.par_chunks(1 << 16).map(fold).reduce(|| 0, |a, b| a ^ b);
        black_box(sum);
    });
    let gigabytes = |bytes: usize, seconds: f64| bytes as f64 / seconds / 1e9;
    let bandwidth = gigabytes(words.len() * 8, read);
    println!("read: {read:.4} s, processor {read_cpu:.4} s, {bandwidth:.2} GB/s");
    drop(words);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::I8] {
        let (actual, expected) = pair(dtype, len);
        let rule = Rule::default_for(dtype);
        let compare = || assert!(judge(&actual, &expected, &rule, &Options::default()).passed());
        let (wall, cpu) = measured(compare);
        let (single, _) = pool.install(|| measured(compare));
        let speed = gigabytes(actual.bytes().len() * 2, wall);
        let share = 100.0 * speed / bandwidth;
        println!(
            "{dtype}: {wall:.4} s, processor {cpu:.4} s, {speed:.2} GB/s ({share:.0} % of reading), one thread {single:.4} s"
        );
    }
}
