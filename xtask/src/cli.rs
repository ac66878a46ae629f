//! What can be typed.

use clap::{Parser, Subcommand};

use crate::{kernel, quickstart, test};

/// Build, run and verify PTO kernels for Ascend NPUs, on any machine.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    after_help = "Exit codes: 0 passed, 1 the verdict is negative, 2 wrong usage or malformed file, 3 the machine lacks something.\n\
                  Start with: cargo xtask quickstart"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Set this machine up, then compile, launch and verify every example
    Quickstart(quickstart::Args),
    /// Run this workspace's own tests, with all they need set up
    Test(test::Args),
    /// Kernels: new, adopt, list, build, test, clean
    Kernel(kernel::Args),
}
