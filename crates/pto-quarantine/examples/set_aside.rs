//! Sets a device aside, as a program does that saw a kernel hang, and chooses another: `cargo run --example set_aside`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::{Duration, SystemTime};

use pto_context::Context;
use pto_quarantine::Quarantine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let cx = Context::fake("/", [("PTOKIT_QUARANTINE", dir.path())]);
    let quarantine = Quarantine::of(&cx);
    let now = SystemTime::now();
    quarantine.put(0, "`vec_add` did not end within 60 s", Duration::from_secs(3600), now)?;

    let standing = quarantine.standing(now);
    for record in &standing.records {
        println!("device {} for {:?}: {}", record.device, record.remaining(now), record.why);
    }
    let choice = (0..2).find(|device| !standing.is_set_aside(*device));
    println!("choosing {choice:?}");
    assert_eq!(choice, Some(1));
    Ok(())
}
