//! `kernel clean`: what was generated for this workspace is deleted; the shared store stays.

use std::io::ErrorKind;

use crate::exit::{Failure, Outcome};
use crate::setup::{Common, generated_dir};

/// `kernel clean`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel clean")]
pub struct Args {
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let dir = generated_dir(&args.common.context()?);
    let existed = match fs_err::remove_dir_all(&dir) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(Failure::io(&error)),
    };
    if args.common.json {
        println!("{}", serde_json::json!({ "schema": "ptokit.kernel-clean/1", "path": dir, "deleted": existed }));
    } else {
        anstream::println!("{} {}", if existed { "deleted" } else { "nothing to delete at" }, dir.display());
    }
    Ok(Outcome::Passed)
}
