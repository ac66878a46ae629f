//! Installs the PTOAS that a `versions.env` pins from a wheel on the disk:
//!
//! `install STORE VERSIONS_ENV WHEEL ROOT [--force]`
//!
//! Prints what was done and the version. Exit codes: 0 it is there, 2 wrong usage, 3 nothing was changed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Event, EventSink};
use pto_ptoas::{InstallOptions, PinSource, Source, install};
use pto_store::Store;

struct ToStderr;

impl EventSink for ToStderr {
    fn event(&self, event: Event) {
        match event {
            Event::Started { message, .. } | Event::Finished { message, .. } => eprintln!("{message}"),
            Event::Warning { message } => eprintln!("warning: {message}"),
            _ => {}
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [store, pins, wheel, root, flags @ ..] = args.as_slice() else {
        eprintln!("usage: install STORE VERSIONS_ENV WHEEL ROOT [--force]");
        return ExitCode::from(2);
    };
    let options = InstallOptions {
        pin: PinSource { file: Some(pins.into()), ..PinSource::default() },
        source: Source::File(wheel.into()),
        root: Some(root.into()),
        force: flags.iter().any(|flag| flag == "--force"),
        ..InstallOptions::default()
    };
    match run(store, &options) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let mut cause: Option<&dyn std::error::Error> = Some(error.as_ref());
            while let Some(shown) = cause {
                eprintln!("error: {shown}");
                cause = shown.source();
            }
            let hint = error.downcast_ref::<pto_ptoas::Error>().and_then(pto_ptoas::Error::hint);
            hint.into_iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(3)
        }
    }
}

fn run(store: &str, options: &InstallOptions) -> Result<String, Box<dyn std::error::Error>> {
    pto_process::interrupt::install()?;
    let cx = Context::from_process(Arc::new(ToStderr))?;
    let done = install(&cx, &Store::open(cx.cwd().join(store)), options)?;
    Ok(format!("{:?} {}", done.action, done.version))
}
