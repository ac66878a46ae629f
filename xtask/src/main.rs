//! The command line of ptokit: arguments in, libraries called, results rendered, exit codes chosen.
//!
//! `cli` holds what can be typed, one file per verb runs it. Nothing here could be done by a library: a verb is
//! arguments, one or two calls, and the rendering of what they return.

#![expect(unreachable_pub, reason = "in a binary `pub` says what other modules may use")]

mod build;
mod bundle;
mod cli;
mod container;
mod devices;
mod doctor;
mod env;
mod exit;
mod first_model;
mod golden;
mod images;
mod kernel;
mod out;
mod progress;
mod ptoas;
mod quickstart;
mod secrets;
mod setup;
mod setup_home;
mod store;
mod style;
mod test;
mod triage;
mod update;

use std::process::ExitCode;

use clap::Parser;

use exit::{Failure, Outcome};
use pto_context::Called;
use secrets::Secrets;

fn main() -> ExitCode {
    // A worker of a launch is this same program.
    pto_launch::worker::intercept();
    // And so is the one that asks ACL for a device.
    pto_doctor::acl_probe::intercept();
    let words = cli::words(std::env::args_os());
    let secrets = Secrets::of(&words);
    let called = Called::of(words.first().map(std::ffi::OsString::as_os_str));
    let cli = match cli::Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && cli::wants_json(&words) => {
            return Failure::command_line(&error).spelled(called).masked(&secrets).report_json(&cli::schema(&words));
        }
        Err(error) => return exit::report_clap(&error, &secrets, called),
    };
    // What only reads starts no child and leaves nothing half done, and it may wait for a pipe that never ends: Ctrl-C just
    // ends it.
    let is_reader = match &cli.verb {
        cli::Verb::Triage(_) | cli::Verb::Golden(_) => true,
        cli::Verb::Kernel(args) => args.only_reads(),
        _ => false,
    };
    if !is_reader && let Err(error) = pto_process::interrupt::install() {
        out::say(&format!("{} Ctrl-C will not end children in order: {error}", style::warning("warning:")));
    }
    match run(&cli.verb).map_err(|failure| failure.spelled(called).masked(&secrets)) {
        Ok(outcome) => outcome.code(),
        Err(failure) if cli::wants_json(&words) => failure.report_json(&cli::schema(&words)),
        Err(failure) => failure.report(),
    }
}

fn run(verb: &cli::Verb) -> Result<Outcome, Failure> {
    match verb {
        cli::Verb::Quickstart(args) => quickstart::run(args),
        cli::Verb::Test(args) => test::run(args),
        cli::Verb::Kernel(args) => kernel::run(args),
        cli::Verb::Golden(args) => golden::run(args),
        cli::Verb::Doctor(args) => doctor::run(args),
        cli::Verb::Devices(args) => devices::run(args),
        cli::Verb::Triage(args) => triage::run(args),
        cli::Verb::Ptoas(args) => ptoas::run(args),
        cli::Verb::Setup(args) => setup_home::run(args),
        cli::Verb::Build(args) => build::run(args),
        cli::Verb::Update(args) => update::run(args),
        cli::Verb::Env(args) => env::run(args),
        cli::Verb::Container(args) => container::run(args),
        cli::Verb::Store(args) => store::run(args),
        cli::Verb::Bundle(args) => bundle::run(args),
        cli::Verb::Images(args) => images::run(args),
    }
}
