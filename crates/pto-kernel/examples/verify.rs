//! Compiles, launches and verifies kernels on this machine's CPU, as a tool of one's own would.
//!
//! `cargo run -p pto-kernel --example verify -- examples/vec_add/kernel.toml`
//!
//! Needs PTO-ISA's headers (`PTO_LIB_PATH`, or the store that `cargo xtask quickstart` fills) and a C++ compiler. Ends
//! with 0 if every case of every kernel passed, 1 if not, 2 if one could not be tried.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Silent, with_causes};
use pto_kernel::Manifest;
use pto_kernel::run::{Fetching, KernelResult, RunError, Setup, TestOptions, Workshop, test_kernel};
use pto_launch::Worker;
use pto_platform::Target;
use pto_store::Store;

fn main() -> ExitCode {
    // Kernels run in processes of their own, and those are this same program.
    pto_launch::worker::intercept();
    let mut worst = 0;
    for path in std::env::args_os().skip(1) {
        match verify(Path::new(&path)) {
            Ok(result) => {
                show(&result);
                worst = worst.max(u8::from(!result.passed));
            }
            Err(error) => {
                eprintln!("{}", with_causes(&error));
                error.hint().iter().for_each(|hint| eprintln!("hint: {hint}"));
                worst = 2;
            }
        }
    }
    ExitCode::from(worst)
}

fn verify(manifest: &Path) -> Result<KernelResult, RunError> {
    let cx = Context::from_process(Arc::new(Silent)).map_err(RunError::Io)?;
    let home = Store::default_root(&cx)?;
    let setup = Setup {
        pto_isa: None,
        cxx: None,
        fetching: Fetching::Offline,
        opt_level: 1,
        artifacts: Store::open(home.join("verify")),
        shared: Store::open(home),
        worker: Worker::this_program()?,
    };
    let workshop = Workshop::open(&cx, setup, Target::Cpu)?;
    test_kernel(&cx, &workshop, &Manifest::load(manifest)?, &TestOptions::default(), &|case| {
        println!("  {} {}", case.case, case.status.word());
    })
}

fn show(result: &KernelResult) {
    println!("{}: {}", result.name, result.status.word());
    for case in result.cases.iter().filter(|case| !case.passed()) {
        println!("  {}: {}", case.case, case.message);
    }
}
