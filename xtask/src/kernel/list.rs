//! `kernel list`.

use std::path::{Path, PathBuf};

use pto_kernel::Manifest;
use pto_kernel::discover::discover;
use pto_kernel::run::Problem;
use serde::Serialize;

use super::select::all;
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `kernel list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel list --json")]
pub struct Args {
    /// Only what is in this directory or below it
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What `kernel list --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernels: Vec<Entry<'a>>,
    failures: Vec<Unreadable<'a>>,
    collisions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    name: &'a str,
    path: &'a Path,
    summary: Option<&'a str>,
    core: &'static str,
    targets: Vec<&'static str>,
    dynamic_dims: Vec<&'a str>,
}

/// A manifest that does not load.
#[derive(Debug, Serialize)]
struct Unreadable<'a> {
    path: &'a Path,
    error: Problem,
}

/// Runs the verb. A manifest that does not load is named and does not hide the others.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let found = match &args.dir {
        Some(dir) if !dir.is_dir() => {
            return Err(Failure::usage(format!("there is no directory `{}`", dir.display()), None));
        }
        Some(dir) => discover(dir),
        None => all(&cx),
    };
    let collisions: Vec<String> = found.collisions.iter().map(ToString::to_string).collect();
    let kernels = found.kernels.iter().map(entry).collect();
    let refused: Vec<(PathBuf, Failure)> =
        found.failures.into_iter().map(|(path, error)| (path, error.into())).collect();
    let failures: Vec<_> =
        refused.iter().map(|(path, failure)| Unreadable { path, error: failure.problem() }).collect();
    let clean = failures.is_empty() && collisions.is_empty();
    if args.common.json {
        out::json(&Document { schema: "ptokit.kernel-list/1", kernels, failures, collisions })?;
    } else {
        out::text(&table(&kernels))?;
        for (_, failure) in &refused {
            out::say(&failure.text());
        }
        for collision in &collisions {
            out::say(&format!("{} {collision}", style::error("error:")));
        }
    }
    Ok(if clean { Outcome::Passed } else { Outcome::Malformed })
}

fn table(kernels: &[Entry<'_>]) -> String {
    let mut table = Table::new(&["kernel", "core", "targets", "path", "summary"]);
    for kernel in kernels {
        table.row(vec![
            Cell::new(kernel.name),
            Cell::new(kernel.core),
            Cell::new(kernel.targets.join(" ")),
            Cell::new(kernel.path.display().to_string()),
            Cell::new(kernel.summary.unwrap_or_default()),
        ]);
    }
    table.lines().join("\n") + "\n"
}

fn entry(kernel: &Manifest) -> Entry<'_> {
    Entry {
        name: &kernel.name,
        path: &kernel.path,
        summary: kernel.summary.as_deref(),
        core: kernel.core.name(),
        targets: kernel.targets.iter().map(|target| target.name()).collect(),
        dynamic_dims: kernel.dynamic_dims().collect(),
    }
}
