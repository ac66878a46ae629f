//! `kernel new`: a kernel that works, to start from.

use std::path::PathBuf;

use pto_kernel::scaffold;

use crate::exit::{Failure, Outcome};
use crate::setup::{Common, workspace_root};

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
    let dir = scaffold::create(&parent, &args.name)?;
    let shown = dir.strip_prefix(cx.cwd()).unwrap_or(&dir).display().to_string();
    if args.common.json {
        println!("{}", serde_json::json!({ "schema": "ptokit.kernel-new/1", "name": args.name, "path": shown }));
    } else {
        anstream::println!(
            "wrote {shown}\nnext: cargo xtask kernel test {}",
            if args.dir.is_some() { &shown } else { &args.name }
        );
    }
    Ok(Outcome::Passed)
}
