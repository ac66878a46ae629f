//! Sets a home up for a checkout, as another tool would: `setup HOME CHECKOUT [--dry-run]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use pto_build::{SetupOptions, plan_setup, setup};
use pto_context::{Context, Event, EventSink, with_causes};

/// Shows what happens as plain lines.
struct Lines;

impl EventSink for Lines {
    fn event(&self, event: Event) {
        match event {
            Event::Started { message, .. } | Event::Finished { message, .. } => eprintln!("{message}"),
            Event::Warning { message } => eprintln!("warning: {message}"),
            Event::Command { line } => eprintln!("$ {line}"),
            _ => {}
        }
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let (Some(home), Some(src)) = (words.next().map(PathBuf::from), words.next().map(PathBuf::from)) else {
        eprintln!("usage: setup HOME CHECKOUT [--dry-run]");
        return ExitCode::from(2);
    };
    let mut options = SetupOptions { home: Some(home), src: Some(src), ..SetupOptions::default() };
    // Another tool puts itself under its own names; this example has none.
    options.helpers.program = std::env::current_exe().unwrap_or_default();
    let cx = Context::from_process(Arc::new(Lines)).expect("a program starts in a directory that is there");
    let act = if words.next().is_some() { plan_setup } else { setup };
    match act(&cx, &options) {
        Ok(done) => {
            println!("{:#?}\n{}", done.plan, done.activation);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            error.hint().iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::FAILURE
        }
    }
}
