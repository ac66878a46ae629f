//! `kernel adopt`: a manifest for a source that exists.

use std::path::{Path, PathBuf};

use pto_kernel::KernelError;
use pto_kernel::adopt::{adopt, write};
use pto_kernel::manifest::{Check, FILE_NAME};
use pto_kernel::source::Source;
use pto_process::shell_word;
use serde_json::json;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

const SCHEMA: &str = "ptokit.kernel-adopt/1";

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
    if !args.file.exists() {
        return Err(Failure::usage(format!("there is no file `{}`", args.file.display()), None));
    }
    let read = |source| KernelError::Read { path: args.file.clone(), source };
    let source = Source::read(&args.file).map_err(read)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let adopted = adopt(&source, &name, args.entry.as_deref())?;
    let checks: Vec<String> = adopted.checks.iter().map(ToString::to_string).collect();
    if args.print {
        let document = json!({ "schema": SCHEMA, "entry": adopted.entry, "checks": checks, "text": adopted.text });
        if args.common.json {
            out::json(&document)?
        } else {
            out::text(&adopted.text)?
        }
        return Ok(Outcome::Passed);
    }
    let dir = args.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let path = write(&adopted, dir, args.force)?;
    if args.common.json {
        out::json(&json!({ "schema": SCHEMA, "path": path, "entry": adopted.entry, "checks": checks }))?;
        return Ok(Outcome::Passed);
    }
    let mut text = format!("wrote {}\n", path.display());
    for check in grouped(&adopted.checks) {
        text += &format!("{} {check}\n", style::warning("check:"));
    }
    let dir = shell_word(&dir.to_string_lossy());
    text += &format!("next: finish the lines marked `check:`, then cargo xtask kernel test {dir}\n");
    out::text(&text)?;
    Ok(Outcome::Passed)
}

/// One line for each text: marks that say the same stand together, at the place of the first.
fn grouped(checks: &[Check]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&Check>)> = Vec::new();
    for check in checks {
        match groups.iter_mut().find(|(text, _)| *text == check.text) {
            Some((_, group)) => group.push(check),
            None => groups.push((&check.text, vec![check])),
        }
    }
    let line = |(text, group): (&str, Vec<&Check>)| {
        let places: Vec<String> = group.iter().map(|check| format!("{}: {}", check.line, check.what)).collect();
        format!("{FILE_NAME}:{}: {text}", places.join(", :"))
    };
    groups.into_iter().map(line).collect()
}
