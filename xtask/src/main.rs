//! The command line of ptokit: arguments in, libraries called, results rendered, exit codes chosen.
//!
//! `cli` holds what can be typed, one file per verb runs it. Nothing here could be done by a library: a verb is
//! arguments, one or two calls, and the rendering of what they return.

#![expect(unreachable_pub, reason = "in a binary `pub` says what other modules may use")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the binary: printing is its work")]

mod cli;
mod exit;
mod kernel;
mod progress;
mod quickstart;
mod setup;
mod style;
mod test;

use clap::Parser;

fn main() -> std::process::ExitCode {
    // A worker of a launch is this same program.
    pto_launch::worker::intercept();
    let cli = cli::Cli::parse();
    if let Err(error) = pto_process::interrupt::install() {
        anstream::eprintln!("{} Ctrl-C will not end children in order: {error}", style::warning("warning:"));
    }
    let result = match cli.verb {
        cli::Verb::Quickstart(args) => quickstart::run(&args),
        cli::Verb::Test(args) => test::run(&args),
        cli::Verb::Kernel(args) => kernel::run(&args),
    };
    match result {
        Ok(outcome) => outcome.code(),
        Err(failure) => failure.report(),
    }
}
