//! `kernel adopt`: a manifest for a source that exists.

use std::path::{Path, PathBuf};

use pto_kernel::KernelError;
use pto_kernel::adopt::{adopt, write};
use pto_kernel::source::Source;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::style;

/// `kernel adopt`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel adopt path/to/kernel.cpp --entry call_add")]
pub struct Args {
    /// The kernel's source
    file: PathBuf,
    /// The launcher or `__global__` function, when there are several
    #[arg(long, value_name = "SYMBOL")]
    entry: Option<String>,
    /// Overwrite a kernel.toml that exists
    #[arg(long)]
    force: bool,
    /// Print the manifest and write nothing
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let read = |source| KernelError::Read { path: args.file.clone(), source };
    let source = Source::read(&args.file).map_err(read)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let adopted = adopt(&source, &name, args.entry.as_deref())?;
    if args.print {
        print!("{}", adopted.text);
        return Ok(Outcome::Passed);
    }
    let dir = args.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let path = write(&adopted, dir, args.force)?;
    if args.common.json {
        let checks: Vec<String> = adopted.checks.iter().map(ToString::to_string).collect();
        println!(
            "{}",
            serde_json::json!({ "schema": "ptokit.kernel-adopt/1", "path": path, "entry": adopted.entry, "checks": checks })
        );
        return Ok(Outcome::Passed);
    }
    anstream::println!("wrote {}", path.display());
    for check in &adopted.checks {
        anstream::println!("{} {check}", style::warning("check:"));
    }
    anstream::println!("next: finish the lines marked `check:`, then cargo xtask kernel test {}", dir.display());
    Ok(Outcome::Passed)
}
