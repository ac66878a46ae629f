//! Brings the repositories of a checkout up to date, as another tool would: `update HOME CHECKOUT [--dry-run]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use pto_build::{PullOptions, plan_pull, pull};
use pto_context::{Context, Silent, with_causes};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let (Some(home), Some(src)) = (words.next().map(PathBuf::from), words.next().map(PathBuf::from)) else {
        eprintln!("usage: update HOME CHECKOUT [--dry-run]");
        return ExitCode::from(2);
    };
    let options = PullOptions { home: Some(home), src: Some(src), ..PullOptions::default() };
    let cx = Context::from_process(Arc::new(Silent)).expect("a program starts in a directory that is there");
    let act = if words.next().is_some() { plan_pull } else { pull };
    match act(&cx, &options) {
        Ok(done) => {
            for one in done.repositories.iter().flat_map(|repository| &repository.moves) {
                println!("{} -> {}", one.root.display(), one.to);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            error.hint().iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::FAILURE
        }
    }
}
