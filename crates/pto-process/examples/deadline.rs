//! Runs a command with a deadline, as `timeout` does: `deadline SECONDS PROGRAM [ARG...]`.
//!
//! Ctrl-C ends the command, then this program. Exit codes: the command's own, 124 at the deadline, 128 + n for signal n.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pto_context::{Context, Event, EventSink};
use pto_process::{Error, Invocation, Status, Stream, interrupt};

struct ToStderr;

impl EventSink for ToStderr {
    fn event(&self, event: Event) {
        match event {
            Event::Command { line } => eprintln!("+ {line}"),
            Event::Warning { message } => eprintln!("warning: {message}"),
            _ => {}
        }
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let seconds = args.next().and_then(|text| text.to_str()?.parse().ok());
    let (Some(seconds), Some(program)) = (seconds, args.next()) else {
        eprintln!("usage: deadline SECONDS PROGRAM [ARG...]");
        return ExitCode::from(2);
    };
    let command = Invocation::new(program).args(args).deadline(Duration::from_secs_f64(seconds));
    match run(&command) {
        Ok(status) => ExitCode::from(exit_code(status) as u8),
        Err(error) => {
            eprintln!("error: {error}");
            error.hint().into_iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(127)
        }
    }
}

fn run(command: &Invocation) -> Result<Status, Error> {
    if let Err(error) = interrupt::install() {
        eprintln!("warning: Ctrl-C will not end the command: {error}");
    }
    let here = match Context::from_process(Arc::new(ToStderr)) {
        Ok(here) => here,
        Err(error) => {
            eprintln!("warning: the current directory cannot be read: {error}");
            Context::fake("/", [("PATH", "/usr/bin:/bin")])
        }
    };
    let output = command.run_streaming(&here, |stream, line| match stream {
        Stream::Stdout => println!("{line}"),
        Stream::Stderr => eprintln!("{line}"),
    })?;
    eprintln!("`{}` {} after {:.1?}", output.program, output.status, output.duration);
    Ok(output.status)
}

fn exit_code(status: Status) -> i32 {
    match status {
        Status::Exited(code) => code,
        Status::Signaled { signal, .. } => 128 + signal,
        Status::TimedOut { .. } => 124,
        Status::Interrupted => interrupt::EXIT_CODE,
    }
}
