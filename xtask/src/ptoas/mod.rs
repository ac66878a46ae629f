//! `ptoas`: the pinned assembler.

mod install;
mod status;

use pto_context::with_causes;
use pto_ptoas::Error;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;

/// `ptoas`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ptoas install --checkout ~/pypto")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `ptoas`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Install the PTOAS that the checkout pins, or change nothing
    Install(install::Args),
    /// Show which PTOAS is pinned, installed, on PATH and in CANN, and which one a build would use
    Status(status::Args),
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.verb {
        Verb::Install(verb) => install::run(verb, &args.common),
        Verb::Status(verb) => status::run(verb, &args.common),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(error.fault(), with_causes(&error), error.hint())
    }
}
