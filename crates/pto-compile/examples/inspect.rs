//! What is in a built library: `cargo run -p pto-compile --example inspect -- LIBRARY`.
#![allow(clippy::print_stdout, reason = "an example program prints")]

use std::error::Error;

use pto_compile::artifact::Artifact;

fn main() -> Result<(), Box<dyn Error>> {
    let library = std::env::args_os().nth(1).ok_or("usage: inspect LIBRARY")?;
    let artifact = Artifact::read(library.as_ref())?;
    println!("{} for {:?}, device code: {:?}", artifact.machine, artifact.core(), artifact.device_arch());
    for kernel in artifact.images.iter().filter(|image| image.linked).flat_map(|image| &image.kernels) {
        println!("{} {:?}", kernel.signature.as_ref().unwrap_or(&kernel.name), kernel.core);
    }
    for export in artifact.exports {
        println!("{}", export.signature.unwrap_or(export.symbol));
    }
    Ok(())
}
