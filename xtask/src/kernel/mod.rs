//! `kernel`: everything about kernels, one file per verb.

mod adopt;
mod bench;
mod bind;
mod build;
mod clean;
mod done;
mod inspect;
mod launch;
mod lint;
mod list;
mod log;
mod new;
mod page;
mod record;
mod render;
mod select;
pub mod table;
mod test;

pub use record::Asked;
pub use render::render;
pub use test::{interrupted, outcome, save};

use clap::Subcommand;

use crate::exit::{Failure, Outcome};

/// `kernel`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel test vec_add")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write a new kernel that works, to start from
    New(new::Args),
    /// Write a kernel.toml for a source that exists
    Adopt(adopt::Args),
    /// List the kernels of this workspace
    List(list::Args),
    /// Compile kernels, or show how they would be compiled
    Build(build::Args),
    /// Compile, launch and verify kernels
    Test(test::Args),
    /// Time kernels that are right, over sizes, against a roofline and a saved run
    Bench(bench::Args),
    /// Write and build a Python package for a kernel
    Bind(bind::Args),
    /// Show what was verified, how and when, and whether it still holds
    Log(log::Args),
    /// Hold kernels against the definition of done
    Done(done::Args),
    /// Look for what compiles and yet goes wrong, without running anything
    Lint(lint::Args),
    /// Show what is in a built library, and whether this machine can use it
    Inspect(inspect::Args),
    /// Delete what was generated
    Clean(clean::Args),
}

impl Args {
    /// Whether the verb starts no child and makes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self.verb, Verb::List(_) | Verb::Lint(_) | Verb::Inspect(_) | Verb::Log(_))
    }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.verb {
        Verb::New(args) => new::run(args),
        Verb::Adopt(args) => adopt::run(args),
        Verb::List(args) => list::run(args),
        Verb::Build(args) => build::run(args),
        Verb::Test(args) => test::run(args),
        Verb::Bench(args) => bench::run(args),
        Verb::Bind(args) => bind::run(args),
        Verb::Log(args) => log::run(args),
        Verb::Done(args) => done::run(args),
        Verb::Lint(args) => lint::run(args),
        Verb::Inspect(args) => inspect::run(args),
        Verb::Clean(args) => clean::run(args),
    }
}
