//! Ends in another program: `cargo run -p pto-process --example replace -- sh -c 'exit 7'` exits with 7.

#![allow(clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_process::Invocation;

fn main() -> ExitCode {
    let cx = Context::from_process(Arc::new(Silent)).expect("a directory to work in");
    let mut words = std::env::args_os().skip(1);
    let invocation = Invocation::new(words.next().unwrap_or_else(|| "true".into())).args(words);
    let error = invocation.replace_this_process(&cx);
    eprintln!("{error}");
    ExitCode::FAILURE
}
