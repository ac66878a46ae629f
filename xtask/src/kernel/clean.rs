//! `kernel clean`: what was generated for this workspace is deleted; the shared store stays.

use std::io::ErrorKind;

use serde_json::json;

use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::{Common, generated_dir, shown};

/// `kernel clean`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel clean")]
pub struct Args {
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let dir = generated_dir(&cx);
    let existed = match fs_err::remove_dir_all(&dir) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(Failure::io(&error)),
    };
    if args.common.json {
        out::json(&json!({ "schema": "ptokit.kernel-clean/1", "path": dir, "deleted": existed }))?;
    } else {
        let word = if existed { "deleted" } else { "nothing to delete at" };
        out::text(&format!("{word} {}\n", shown(&cx, &dir).display()))?;
    }
    Ok(Outcome::Passed)
}
