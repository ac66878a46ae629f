//! What the rules say of sources that have no `kernel.toml`: `cargo run -p pto-kernel --example lint -- TARGET FILE...`.
#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::error::Error;
use std::path::PathBuf;

use pto_kernel::lint::{Subject, lint_python, lint_source};
use pto_kernel::source::Source;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let target = args.next().and_then(|target| target.into_string().ok()).ok_or("usage: lint TARGET FILE...")?;
    let subject = Subject { targets: vec![target.parse()?], core: None };
    for path in args.map(PathBuf::from) {
        let findings = if path.extension().is_some_and(|end| end == "py") {
            lint_python(&path, &std::fs::read_to_string(&path)?)
        } else {
            lint_source(&Source::read(&path)?, &subject)
        };
        for finding in findings {
            let (path, rule) = (finding.path.display(), finding.rule);
            println!("{path}:{}:{}: {rule}: {}", finding.line, finding.column, finding.message);
        }
    }
    Ok(())
}
