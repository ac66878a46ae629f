//! Examines this machine, as another tool would before it starts work.

use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_doctor::{Examination, Status, examine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = Context::from_process(Arc::new(Silent))?;
    let report = examine(&cx, &Examination::new(&cx))?;
    for check in report.checks.iter().filter(|check| check.status != Status::Skip) {
        anstream::println!("{:<5} {}", check.status, check.line);
    }
    anstream::println!("{}", report.ready());
    Ok(())
}
