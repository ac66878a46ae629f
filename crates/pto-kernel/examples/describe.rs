//! Lists the kernels under a directory with their cases, as another tool would: `cargo run -p pto-kernel --example
//! describe -- DIR`. Without a directory it makes a new kernel in a temporary one and describes that.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::path::PathBuf;

use pto_kernel::cases::{Cores, bind, derive};
use pto_kernel::{KernelError, Manifest, discover, scaffold};
use pto_platform::Target;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let root = match std::env::args_os().nth(1) {
        Some(root) => PathBuf::from(root),
        None => scaffold::create(scratch.path(), "vec_add")?,
    };
    let found = discover::discover(&root);
    for kernel in &found.kernels {
        describe(kernel)?;
    }
    for (path, error) in &found.failures {
        match error {
            KernelError::Manifest(errors) => eprintln!("{}", errors.render()),
            other => eprintln!("{}: {other}", path.display()),
        }
    }
    for collision in &found.collisions {
        eprintln!("{collision}");
    }
    Ok(())
}

fn describe(kernel: &Manifest) -> Result<(), KernelError> {
    println!("{} ({})", kernel.name, kernel.path.display());
    let target = kernel.targets[0];
    // What a CPU stands for is the caller's choice: here a small NPU.
    let cores = target.default_soc().map_or(Cores { vector: 8, cube: 4 }, Cores::from);
    for case in derive(kernel, target, cores, kernel.cases.seed.unwrap_or(1)) {
        let bound = bind(kernel, &case, cores)?;
        let bytes: usize = bound.tensors().map(|(_, tensor)| tensor.bytes).sum();
        let note = if target == Target::Cpu { "" } else { " on the default SoC" };
        println!("  {case} ({}): {} blocks{note}, {bytes} bytes", case.origin, bound.block_dim);
    }
    Ok(())
}
