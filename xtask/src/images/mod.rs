//! `images`: the published images, from their configuration to the registry.

mod common;
mod plan;
mod promote;
mod publish;
mod rollback;
mod status;
mod test;
mod validate;

use pto_context::with_causes;
use pto_images::Error;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;

/// `images`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask images validate")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `images`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Check the configuration of the images: every mistake at once
    Validate(validate::Args),
    /// Freeze what is built: every branch and tag by its commit or digest
    Plan(plan::Args),
    /// Validate an image on cards: strict doctor, one card, two cards
    Test(test::Args),
    /// Upload a tested image, compare it, and make it current
    Publish(publish::Args),
    /// Make an uploaded image current, or finish or take back what was begun
    Promote(promote::Args),
    /// Make the version before current again
    Rollback(rollback::Args),
    /// Show where the tags of an image lead, and what was begun
    Status(status::Args),
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.verb {
        Verb::Validate(verb) => validate::run(verb, &args.common),
        Verb::Plan(verb) => plan::run(verb, &args.common),
        Verb::Test(verb) => test::run(verb, &args.common),
        Verb::Publish(verb) => publish::run(verb, &args.common),
        Verb::Promote(verb) => promote::run(verb, &args.common),
        Verb::Rollback(verb) => rollback::run(verb, &args.common),
        Verb::Status(verb) => status::run(verb, &args.common),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let said = error.said().map(|said| format!("\n{said}"));
        Self::of(error.fault(), with_causes(&error) + &said.unwrap_or_default(), error.hint())
    }
}
