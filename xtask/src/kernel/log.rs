//! `kernel log`: what was verified, and whether it still holds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use pto_kernel::Manifest;
use pto_kernel::record::{Contents, Entry, Freshness, Record, Unreadable, VERIFICATION, delivery, place};
use pto_kernel::run::{Problem, Suite};
use serde::Serialize;

use super::record::{logbook, read};
use super::select::{refusals, select};
use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome};
use crate::setup::{Common, shown, workspace_root};
use crate::{out, style};

/// `kernel log`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask kernel log\n  cargo xtask kernel log vec_add --check\n  cargo xtask kernel log vec_add --markdown"
)]
pub struct Args {
    /// Names or paths of kernels [default: all that have a record]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Hold the records against the sources, headers and libraries they speak of
    #[arg(long)]
    check: bool,
    /// Write the records of each kernel to VERIFICATION.md beside its kernel.toml
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    common: Common,
}

/// What `kernel log --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    passed: bool,
    log: PathBuf,
    written: Vec<PathBuf>,
    records: Vec<Shown<'a>>,
    unreadable: Vec<Unreadable>,
    failures: Vec<Problem>,
}

/// One record.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    path: PathBuf,
    /// Nothing unless `--check` asked for it.
    #[serde(flatten)]
    freshness: Option<Freshness>,
    record: &'a Record,
}

/// Runs the verb. A manifest that does not load does not hide the records of the rest.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let Contents { mut entries, mut unreadable } = read(&cx)?;
    let mut suite = if args.names.is_empty() { Suite::default() } else { select(&cx, &args.names)? };
    let mut failures = refusals(&mut suite);
    if !args.names.is_empty() {
        entries.retain(|entry| suite.kernels.iter().any(|kernel| is_of(&cx, entry, kernel)));
    }
    match unrecorded(&cx, &suite.kernels, &entries) {
        // What is malformed has to be mended first; then there is more to say than this.
        Some(missing) if !failures.is_empty() => failures.push(missing),
        Some(missing) => return Err(missing),
        None if entries.is_empty() && failures.is_empty() => {
            let hint = "`cargo xtask kernel test` makes them".to_owned();
            return Err(Failure::negative("there are no records here", hint));
        }
        None => {}
    }
    let named = !args.names.is_empty();
    let mut written = if args.markdown { write(&cx, &entries, named)? } else { Vec::new() };
    for path in written.iter_mut().chain(unreadable.iter_mut().map(|file| &mut file.path)) {
        *path = shown(&cx, path);
    }
    let mut records = Vec::new();
    for Entry { path, record } in &entries {
        records.push(Shown { path: shown(&cx, path), freshness: args.check.then(|| Freshness::of(record)), record });
    }
    let fresh = records.iter().all(|shown| shown.freshness.as_ref().is_none_or(|freshness| freshness.fresh));
    let outcome = Outcome::of_all([Outcome::passed_if(fresh), Outcome::unless_refused(&failures)]);
    if args.common.json {
        let (schema, passed) = ("ptokit.kernel-log/1", outcome == Outcome::Passed);
        let log = shown(&cx, &logbook(&cx).log());
        let failures = failures.iter().map(Failure::problem).collect();
        out::json(&Document { schema, passed, log, written, records, unreadable, failures })?;
        return Ok(outcome);
    }
    if args.markdown {
        out::text(&written.iter().map(|path| format!("wrote {}\n", path.display())).collect::<String>())?;
    } else if args.names.is_empty() || args.check {
        out::text(&table(&records))?;
    } else {
        out::text(&entries.iter().map(|entry| entry.record.to_markdown(1)).collect::<Vec<_>>().join("\n"))?;
    }
    failures.iter().for_each(|failure| out::say(&failure.text()));
    Ok(outcome)
}

/// That a kernel which was named has no record.
fn unrecorded(cx: &Context, kernels: &[Manifest], entries: &[Entry]) -> Option<Failure> {
    let kernel = kernels.iter().find(|kernel| !entries.iter().any(|entry| is_of(cx, entry, kernel)))?;
    let hint = format!("`cargo xtask kernel test {}` makes one", kernel.name);
    Some(Failure::negative(format!("there is no record of `{}`", kernel.name), hint))
}

fn is_of(cx: &Context, entry: &Entry, kernel: &Manifest) -> bool {
    entry.record.manifest == place(cx, &kernel.path)
}

/// One file for each kernel, with all its records. A record can name any place; only that of a kernel which is there, and
/// which was named or lies in the workspace, is written to.
fn write(cx: &Context, entries: &[Entry], named: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut done: Vec<&Path> = Vec::new();
    let mut written: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let manifest = entry.record.manifest.as_path();
        if done.contains(&manifest) {
            continue;
        }
        done.push(manifest);
        if !is_kernels_place(cx, manifest, named) {
            let message = format!("wrote nothing for `{}`, which is no kernel of this workspace", manifest.display());
            cx.emit(Event::Warning { message: out::plain(&message) });
            continue;
        }
        let path = manifest.with_file_name(VERIFICATION);
        let own: Vec<&Record> =
            entries.iter().map(|entry| &entry.record).filter(|record| record.manifest == *manifest).collect();
        out::file(&path, &delivery(&entry.record.kernel, &own))?;
        written.push(path);
    }
    Ok(written)
}

/// What was typed besides the verb and the kernels: that tells two records of one kernel apart.
fn options(typed: &str) -> String {
    let words: Vec<&str> = typed.split(' ').skip_while(|word| !word.starts_with('-')).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// Whether a manifest is there, by the path that a run would record, where files of this workspace may be written.
fn is_kernels_place(cx: &Context, manifest: &Path, named: bool) -> bool {
    let is_one_path = manifest.is_absolute() && place(cx, manifest) == manifest;
    let below = |dir: &Path| manifest.starts_with(place(cx, dir));
    is_one_path && manifest.is_file() && (named || below(cx.cwd()) || below(&workspace_root(cx)))
}

fn table(records: &[Shown<'_>]) -> String {
    let mut table =
        Table::new(&["kernel", "target", "verb", "ran on", "verdict", "cases", "written", "options", "record"]);
    for Shown { record, freshness, .. } in records {
        let passed = record.cases.iter().filter(|case| case.status == "passed").count();
        let state = match freshness {
            None => Cell::new(if record.complete { "all cases" } else { "in part" }),
            Some(Freshness { fresh: true, .. }) => Cell::styled("holds", |text| style::good(text)),
            Some(_) => Cell::styled("out of date", |text| style::error(text)),
        };
        table.row(vec![
            Cell::new(&record.kernel),
            Cell::new(
                record.soc.as_ref().map_or(record.target.to_string(), |soc| format!("{} ({soc})", record.target)),
            ),
            Cell::new(&record.verb),
            Cell::new(record.mode.map_or("-", pto_platform::RanOn::name)),
            Cell::styled(record.verdict(), |text| if record.passed { style::good(text) } else { style::error(text) }),
            Cell::new(format!("{passed} of {}", record.cases.len())),
            Cell::new(&record.written_at),
            Cell::new(options(&record.commands.repeat)),
            state,
        ]);
    }
    let mut text = table.lines().join("\n") + "\n";
    for Shown { record, freshness, .. } in records {
        let line = |said: &str| out::plain(&format!("{} on {}: {said}", record.kernel, record.target));
        for change in freshness.iter().flat_map(|freshness| &freshness.changes) {
            let _ = writeln!(text, "{} {}", style::error("out of date:"), line(change));
        }
        for blocker in &record.blockers {
            let _ = writeln!(text, "{} {}", style::warning("blocked:"), line(blocker));
        }
    }
    text
}
