//! Builds a kernel source for the CPU and prints where the library is:
//! `cargo run -p pto-compile --example cpu -- PTO_ISA_INCLUDE SOURCE vec|cube|mix [SOC]`

use std::error::Error;
use std::sync::Arc;

use pto_compile::cpu::{KernelRequest, Toolchain, ToolchainRequest, build};
use pto_context::{Context, Event, EventSink};
use pto_platform::Soc;
use pto_store::Store;

struct Print;

impl EventSink for Print {
    #[expect(clippy::print_stderr, reason = "an example shows its events")]
    fn event(&self, event: Event) {
        if let Event::Finished { message, .. } | Event::Warning { message } = event {
            eprintln!("{message}");
        }
    }
}

#[expect(clippy::print_stdout, reason = "an example's result")]
fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [headers, source, core, rest @ ..] = &args[..] else {
        return Err("usage: cpu PTO_ISA_INCLUDE SOURCE vec|cube|mix [SOC]".into());
    };
    let cx = Context::from_process(Arc::new(Print))?;
    let store = Store::open(Store::default_root(&cx)?);
    let request = ToolchainRequest { headers: headers.into(), ..ToolchainRequest::default() };
    let toolchain = Toolchain::configure(&cx, &store, &request)?;
    let soc = Soc::by_name(rest.first().map_or("Ascend910B2", String::as_str))?;
    let request = KernelRequest::new("kernel", vec![source.into()], core.parse()?, soc);
    let artifact = build(&cx, &store, &store, &toolchain, &request)?;
    println!(
        "{} ({}, {:?})",
        artifact.library.display(),
        if artifact.cached { "cached" } else { "built" },
        artifact.duration
    );
    Ok(())
}
