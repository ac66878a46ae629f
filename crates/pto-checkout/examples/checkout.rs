//! Says of a PyPTO checkout what somebody who is asked for help wants to know first.
//!
//! `cargo run -p pto-checkout --example checkout -- /path/to/pypto`

use std::sync::Arc;

use pto_checkout::{Checkout, JobLimits, Pins};
use pto_context::{Context, Silent};

#[expect(clippy::print_stdout, reason = "an example is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = Context::from_process(Arc::new(Silent))?;
    let dir = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let checkout = Checkout::open(&cx, &dir)?;
    println!("{} of {}", checkout.root().display(), checkout.owner);
    match (&checkout.branch, &checkout.upstream) {
        (None, _) => println!("  detached"),
        (Some(branch), None) => println!("  {branch}, which follows nothing"),
        (Some(branch), Some(upstream)) => println!("  {branch}, {} {:?}", upstream.name, upstream.tracking),
    }
    if checkout.is_linked() {
        println!("  a worktree of {:?}", checkout.primary);
    }
    println!("  dirty: {}", checkout.is_dirty());
    for submodule in &checkout.submodules {
        println!("  {}: at the recorded commit: {:?}", submodule.path, submodule.is_at_recorded());
    }
    let pins = Pins::read(&cx, checkout.root())?;
    println!("  PTO-ISA: {:?}", pins.pto_isa.and_then(|pin| pin.commit));
    println!("  Python: {:?}", pins.python.map(|python| python.version));
    let limits = JobLimits::of(&cx, &checkout)?;
    println!("  {} build jobs, from {}", limits.build, limits.source);
    Ok(())
}
