//! `kernel new`: a kernel that works, to start from.

use std::path::PathBuf;

use pto_kernel::scaffold;
use pto_process::shell_word;

use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::{Common, shown, workspace_root};

/// `kernel new`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel new my_kernel && cargo xtask kernel test my_kernel")]
pub struct Args {
    /// The kernel's name: letters, digits and `_`
    name: String,
    /// Where to put it [default: kernels/ of this workspace]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let parent = args.dir.clone().unwrap_or_else(|| workspace_root(&cx).join("kernels"));
    fs_err::create_dir_all(&parent).map_err(|error| Failure::io(&error))?;
    let dir = shown(&cx, &scaffold::create(&parent, &args.name)?);
    if args.common.json {
        out::json(&serde_json::json!({ "schema": "ptokit.kernel-new/1", "name": args.name, "path": dir }))?;
    } else {
        // A kernel of the workspace is known by its name; one elsewhere by its path.
        let path = dir.to_string_lossy();
        let again = if args.dir.is_some() { shell_word(&path) } else { args.name.clone() };
        out::text(&format!("wrote {}\nnext: cargo xtask kernel test {again}\n", dir.display()))?;
    }
    Ok(Outcome::Passed)
}
