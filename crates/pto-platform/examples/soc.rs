//! What the table knows of a SoC: `cargo run -p pto-platform --example soc -- Ascend910B2`.
#![allow(clippy::print_stdout, reason = "an example is a program")]

use pto_platform::{Core, Soc};

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "Ascend950PR_9599".to_owned());
    let soc = Soc::by_name(&name)
        .map_err(|error| [Some(error.to_string()), error.hint()].map(Option::unwrap_or_default).join("; "))?;
    println!("{} ({}, {}, {} in the compiler)", soc.name, soc.family, soc.arch, soc.compiler_arch());
    println!("cores: {} cube, {} vector", soc.cube_cores, soc.vector_cores);
    match (soc.target(), soc.on_chip()) {
        (Some(target), Some(memory)) => {
            println!("target: {target}, UB {} bytes, L1 {} bytes, L0C {} bytes", memory.ub, memory.l1, memory.l0c);
            println!("vector kernels: {}", target.compiler_arch(Core::Vec).unwrap_or_default());
        }
        _ => println!("target: none, PTO kernels are not built for this generation"),
    }
    Ok(())
}
