//! What would be asked of Docker: `cargo run -p pto-container --example container_plan -- a3 0`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;

use pto_container::{Plan, Request};
use pto_context::{Context, Silent};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let series = words.next().unwrap_or_default().parse();
    let cards = words.map(|card| card.parse::<u32>()).collect();
    let (Ok(series), Ok(cards)) = (series, cards) else {
        eprintln!("usage: plan a3|a5 CARD...");
        return ExitCode::from(2);
    };
    let cx = Context::from_process(Arc::new(Silent)).expect("a directory to work in");
    match Plan::make(&cx, &Request::new(series, cards)) {
        Ok(plan) => {
            println!("{}\n{}", plan.announcement(), plan.create().to_shell_line());
            plan.refusals().iter().for_each(|finding| println!("{}: {}", finding.check, finding.found));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
