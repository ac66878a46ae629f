//! `kernel done`: what a kernel still lacks.

use pto_kernel::record::{DoneReport, ItemStatus, definition_of_done};
use pto_kernel::run::Problem;
use serde::Serialize;

use super::record::read;
use super::select::{refusals, select};
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `kernel done`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel done vec_add")]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// What `kernel done --json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    done: bool,
    kernels: Vec<DoneReport>,
    failures: Vec<Problem>,
}

/// Runs the verb. A manifest that does not load does not keep the rest from being looked at.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut suite = select(&cx, &args.names)?;
    let failures = refusals(&mut suite);
    let entries = read(&cx)?.entries;
    let kernels: Vec<DoneReport> =
        suite.kernels.iter().map(|kernel| definition_of_done(&cx, kernel, &entries)).collect();
    let complete = Outcome::passed_if(kernels.iter().all(|kernel| kernel.done));
    let outcome = Outcome::of_all([complete, Outcome::unless_refused(&failures)]);
    if args.common.json {
        let (schema, done) = ("ptokit.kernel-done/1", outcome == Outcome::Passed);
        out::json(&Document { schema, done, kernels, failures: failures.iter().map(Failure::problem).collect() })?;
    } else {
        out::text(&kernels.iter().map(text).collect::<Vec<_>>().join("\n"))?;
        failures.iter().for_each(|failure| out::say(&failure.text()));
    }
    Ok(outcome)
}

fn text(kernel: &DoneReport) -> String {
    let count = |status| kernel.items.iter().filter(|item| item.status == status).count();
    let (missing, blocked) = (count(ItemStatus::Missing), count(ItemStatus::Blocked));
    let verdict = match (missing, blocked) {
        (0, 0) => style::good("done"),
        (0, blocked) => format!("{}, {blocked} blocked on this machine", style::good("done")),
        (missing, 0) => format!("{}, {missing} missing", style::error("not done")),
        (missing, blocked) => format!("{}, {missing} missing, {blocked} blocked", style::error("not done")),
    };
    let mut table = Table::new(&["", "what", "evidence"]);
    let mut before = "";
    for item in &kernel.items {
        let word = match item.status {
            ItemStatus::Done => Cell::styled("done", |text| style::good(text)),
            ItemStatus::Blocked => Cell::styled("blocked", |text| style::warning(text)),
            ItemStatus::Missing => Cell::styled("missing", |text| style::error(text)),
        };
        let said = item.evidence.lines().next().unwrap_or_default();
        let evidence = if said == before { "as above" } else { said };
        before = said;
        table.row(vec![word, Cell::new(&item.id), Cell::new(evidence)]);
    }
    let mut lines = vec![format!("{}: {verdict}", kernel.name)];
    lines.extend(table.lines().into_iter().skip(1));
    let mut commands: Vec<&str> = kernel.items.iter().filter_map(|item| item.command.as_deref()).collect();
    commands.dedup();
    lines.extend(commands.iter().map(|command| format!("{} {command}", style::hint("do:"))));
    lines.join("\n") + "\n"
}
