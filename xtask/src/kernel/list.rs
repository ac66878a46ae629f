//! `kernel list`.

use pto_kernel::Manifest;

use super::select::all;
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome, chain};
use crate::setup::Common;
use crate::style;

/// `kernel list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel list --json")]
pub struct Args {
    #[command(flatten)]
    common: Common,
}

/// Runs the verb. A manifest that does not load is named, and makes the verdict negative.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let found = all(&cx);
    if args.common.json {
        let failures: Vec<_> = found
            .failures
            .iter()
            .map(|(path, error)| serde_json::json!({ "path": path, "error": chain(error) }))
            .collect();
        let kernels: Vec<_> = found.kernels.iter().map(json).collect();
        println!(
            "{}",
            serde_json::json!({ "schema": "ptokit.kernel-list/1", "kernels": kernels, "failures": failures,
                "collisions": found.collisions.iter().map(ToString::to_string).collect::<Vec<_>>() })
        );
    } else {
        let mut table = Table::new(&["kernel", "core", "targets", "path", "summary"]);
        for kernel in &found.kernels {
            table.row(vec![
                Cell::new(&kernel.name),
                Cell::new(kernel.core.name()),
                Cell::new(targets(kernel).join(" ")),
                Cell::new(kernel.path.display().to_string()),
                Cell::new(kernel.summary.clone().unwrap_or_default()),
            ]);
        }
        table.lines().iter().for_each(|line| anstream::println!("{line}"));
        for (_, error) in &found.failures {
            anstream::eprintln!("{} {}", style::error("error:"), chain(error));
        }
        for collision in &found.collisions {
            anstream::eprintln!("{} {collision}", style::error("error:"));
        }
    }
    Ok(Outcome::passed_if(found.failures.is_empty() && found.collisions.is_empty()))
}

fn targets(kernel: &Manifest) -> Vec<&'static str> {
    kernel.targets.iter().map(|target| target.name()).collect()
}

fn json(kernel: &Manifest) -> serde_json::Value {
    serde_json::json!({
        "name": kernel.name,
        "path": kernel.path,
        "summary": kernel.summary,
        "core": kernel.core.name(),
        "targets": targets(kernel),
        "dynamic_dims": kernel.dynamic_dims().collect::<Vec<_>>(),
    })
}
