//! Which devices a process started here would see: `cargo run -p pto-devices --example look`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_devices::{ProbeOptions, Seen, acl_probe};

fn main() -> std::io::Result<()> {
    // The program that opens a device is this same one.
    acl_probe::intercept();
    let cx = Context::from_process(Arc::new(Silent))?;
    let options = ProbeOptions { worker: Some(std::env::current_exe()?), ..ProbeOptions::new(&cx) };
    let seen = Seen::ask(&cx, &options);
    for (device, npu) in &seen.devices {
        let soc = npu.soc.as_deref().unwrap_or("unknown");
        println!("device {device}: {soc}, {}", if npu.idle { "idle" } else { "not idle" });
    }
    if let Some(why) = &seen.unavailable {
        println!("no device: {why}");
    }
    Ok(())
}
