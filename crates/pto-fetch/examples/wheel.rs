//! Gets a pinned wheel into a store and prints where it is:
//!
//! `wheel ROOT NAME VERSION FILE SHA256 SIZE UNPACKED_SIZE PYTHON PLATFORM [KEEP]`
//!
//! Ctrl-C stops it; run again, it goes on with what was fetched whole. Exit codes: 0 there, 3 not to be had.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Event, EventSink};
use pto_fetch::{Error, WheelPin};
use pto_store::Store;

struct ToStderr;

impl EventSink for ToStderr {
    fn event(&self, event: Event) {
        match event {
            Event::Started { message, .. } | Event::Finished { message, .. } => eprintln!("{message}"),
            Event::Progress { done_bytes, .. } => eprintln!("  {:.1} MB", done_bytes as f64 / 1e6),
            Event::Command { line } => eprintln!("+ {line}"),
            Event::Warning { message } => eprintln!("warning: {message}"),
            _ => {}
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<&'static str> = std::env::args().skip(1).map(|arg| &*arg.leak()).collect();
    let Some((root, pin)) = parse(&args) else {
        eprintln!("usage: wheel ROOT NAME VERSION FILE SHA256 SIZE UNPACKED_SIZE PYTHON PLATFORM [KEEP]");
        return ExitCode::from(2);
    };
    match run(root, &pin) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut cause: Option<&dyn std::error::Error> = Some(error.as_ref());
            while let Some(shown) = cause {
                eprintln!("error: {shown}");
                cause = shown.source();
            }
            let hint = error.downcast_ref::<Error>().and_then(Error::hint);
            hint.into_iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(3)
        }
    }
}

fn parse(args: &[&'static str]) -> Option<(&'static str, WheelPin)> {
    let (&[root, name, version, file, sha256, size, unpacked_size, python, platform], keep) =
        args.split_first_chunk()?;
    let (size, unpacked_size) = (size.parse().ok()?, unpacked_size.parse().ok()?);
    let keep = keep.first().copied();
    Some((root, WheelPin { name, version, file, sha256, size, unpacked_size, python, platform, keep }))
}

fn run(root: &str, pin: &WheelPin) -> Result<(), Box<dyn std::error::Error>> {
    pto_process::interrupt::install()?;
    let cx = Context::from_process(Arc::new(ToStderr))?;
    let dir = pin.fetch(&cx, &Store::open(cx.cwd().join(root)))?;
    println!("{}", dir.display());
    Ok(())
}
