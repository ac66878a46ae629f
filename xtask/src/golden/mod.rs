//! `golden`: tensors and what they should be.

mod compare;
mod flags;
pub mod page;

use clap::Subcommand;

use crate::exit::{Failure, Outcome};

/// `golden`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask golden compare actual.npy expected.npy")]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compare two tensor files, or two directories of them by name
    Compare(Box<compare::Args>),
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.verb {
        Verb::Compare(args) => compare::run(args),
    }
}
