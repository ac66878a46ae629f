//! Says whether a checkout has to be built from scratch, as an editor would before it offers to build.
//!
//! `PYPTO_SRC=/workspace/pypto PYPTO_HOME=/opt/pypto cargo run -p pto-build --example explain`

use std::sync::Arc;

use pto_build::{BuildOptions, Decision, Reason, plan_build};
use pto_context::{Context, Silent};

#[expect(clippy::print_stdout, reason = "an example is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = Context::from_process(Arc::new(Silent))?;
    let plan = match plan_build(&cx, &BuildOptions::default()) {
        Ok(plan) => plan,
        Err(error) => {
            println!("cannot be built: {error}");
            error.hint().iter().for_each(|hint| println!("  {hint}"));
            return Ok(());
        }
    };
    println!("{}: {} jobs of {}", plan.source.display(), plan.jobs.used, plan.jobs.limit);
    match &plan.decision {
        Decision::Incremental => println!("  goes on with what is there"),
        Decision::Fresh { reason: Reason::Inputs { changes } } => {
            for change in changes {
                println!("  from scratch: {} was {:?}, is {:?}", change.input, change.was, change.is);
            }
        }
        Decision::Fresh { reason } => println!("  from scratch: {reason}"),
    }
    for step in &plan.commands {
        println!("  {}: {}", step.what, step.command);
    }
    Ok(())
}
