//! Says what the log on standard input means: `some-command 2>&1 | cargo run --example triage`.

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::io::stdin;

use pto_doctor::triage::{Machine, Role, TriageError, Triager};

fn main() -> Result<(), TriageError> {
    let mut triager = Triager::new(Machine::default());
    for code in std::env::args().skip(1) {
        triager.code(&code)?;
    }
    triager.log("stdin", stdin().lock())?;
    let triage = triager.finish();

    println!("{:?} in {} lines", triage.verdict, triage.sources[0].lines);
    for finding in &triage.findings {
        let line = &finding.evidence[0];
        println!("{:?}: {} ({}), {}x, first at {line}", finding.role, finding.title, finding.id, finding.count);
        for (name, value) in finding.fields.list() {
            println!("    {name}: {value}");
        }
        if finding.role == Role::FirstCause {
            for cause in &finding.causes {
                println!("    cause? {}\n        {}\n        $ {}", cause.text, cause.evidence.join("; "), cause.check);
            }
        }
    }
    for advice in &triage.lifted {
        println!("the log says: {} {}", advice.detail.as_deref().unwrap_or(""), advice.hint.as_deref().unwrap_or(""));
    }
    Ok(())
}
