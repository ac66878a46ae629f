//! `store`: what has been fetched and built for all workspaces.

use std::time::Duration;

use pto_context::with_causes;
use pto_store::{Error, Finding, GcOptions, Item, Removed, Store};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of a key that are shown to people.
const SHOWN_KEY: usize = 60;

/// `store`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask store list")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `store`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show every entry with its size
    #[command(after_help = "Example:\n  cargo xtask store list --json")]
    List,
    /// Sum up every file and compare with what was recorded
    #[command(after_help = "Example:\n  cargo xtask store verify --remove")]
    Verify {
        /// Remove damaged entries: they are made again when they are needed
        #[arg(long)]
        remove: bool,
    },
    /// Remove what processes that died have left, and old entries if asked to
    #[command(after_help = "Example:\n  cargo xtask store gc --older-than 30 --dry-run")]
    Gc {
        /// Also remove entries that were built more than this many days ago
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Serialize)]
struct ListDocument {
    schema: &'static str,
    store: String,
    bytes: u64,
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    kind: String,
    key: String,
    bytes: u64,
    age_days: u64,
}

#[derive(Debug, Serialize)]
struct VerifyDocument {
    schema: &'static str,
    store: String,
    passed: bool,
    entries: Vec<Verified>,
}

#[derive(Debug, Serialize)]
struct Verified {
    kind: String,
    key: String,
    status: &'static str,
    damaged: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GcDocument {
    schema: &'static str,
    store: String,
    dry_run: bool,
    bytes: u64,
    removed: Vec<Gone>,
}

#[derive(Debug, Serialize)]
struct Gone {
    path: String,
    bytes: u64,
    why: &'static str,
}

fn failure(error: &Error) -> Failure {
    if error.is_interrupted() {
        return Failure::interrupted();
    }
    Failure::blocked(with_causes(error), error.hint())
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let store = Store::open(Store::default_root(&cx).map_err(|error| failure(&error))?);
    match args.verb {
        Verb::List => list(&store, args.common.json),
        Verb::Verify { remove } => verify(&cx, &store, remove, args.common.json),
        Verb::Gc { older_than, dry_run } => {
            let options = GcOptions { older_than: older_than.map(|days| DAY * days), dry_run };
            gc(&store, &store.gc(&cx, &options).map_err(|error| failure(&error))?, dry_run, args.common.json)
        }
    }
}

fn list(store: &Store, json: bool) -> Result<Outcome, Failure> {
    let items = store.items().map_err(|error| failure(&error))?;
    let bytes = items.iter().map(|item| item.bytes).sum();
    if json {
        let entries = items.into_iter().map(|item| Entry {
            age_days: age_days(&item),
            kind: item.kind,
            key: item.key,
            bytes: item.bytes,
        });
        let (schema, store) = ("ptokit.store-list/1", store.root().display().to_string());
        out::json(&ListDocument { schema, store, bytes, entries: entries.collect() })?;
    } else {
        let mut lines: Vec<_> = items
            .iter()
            .map(|item| {
                format!(
                    "{:>10}  {:>4} d  {:<12} {}",
                    megabytes(item.bytes),
                    age_days(item),
                    item.kind,
                    short(&item.key)
                )
            })
            .collect();
        lines.push(format!("{:>10}  {} entries in `{}`", megabytes(bytes), items.len(), store.root().display()));
        out::text(&(lines.join("\n") + "\n"))?;
    }
    Ok(Outcome::Passed)
}

fn verify(cx: &pto_context::Context, store: &Store, remove: bool, json: bool) -> Result<Outcome, Failure> {
    let mut verified = Vec::new();
    for item in store.items().map_err(|error| failure(&error))? {
        let (status, damaged) = match store.verify(&item).map_err(|error| failure(&error))? {
            Finding::Intact => ("intact", Vec::new()),
            Finding::NotRecorded => ("not-recorded", Vec::new()),
            Finding::Damaged(files) => {
                if remove {
                    let entry = store.entry(&item.kind, &item.key).map_err(|error| failure(&error))?;
                    entry.remove(cx).map_err(|error| failure(&error))?;
                }
                let status = if remove { "removed" } else { "damaged" };
                (status, files.iter().map(|file| file.display().to_string()).collect())
            }
        };
        verified.push(Verified { kind: item.kind, key: item.key, status, damaged });
    }
    let passed = verified.iter().all(|one| one.status != "damaged");
    if json {
        let (schema, store) = ("ptokit.store-verify/1", store.root().display().to_string());
        out::json(&VerifyDocument { schema, store, passed, entries: verified })?;
    } else {
        out::text(&verify_text(&verified))?;
    }
    Ok(Outcome::passed_if(passed))
}

fn verify_text(verified: &[Verified]) -> String {
    let count = |status: &str| verified.iter().filter(|one| one.status == status).count();
    let mut lines = Vec::new();
    for one in verified.iter().filter(|one| !one.damaged.is_empty()) {
        let first = &one.damaged[0];
        lines.push(format!(
            "{} {}/{}: {} files are not what they were, the first is `{first}`",
            style::error(one.status),
            one.kind,
            short(&one.key),
            one.damaged.len()
        ));
    }
    lines.push(format!(
        "{} intact, {} damaged, {} removed, {} built before sums were recorded",
        count("intact"),
        count("damaged"),
        count("removed"),
        count("not-recorded")
    ));
    if count("damaged") > 0 {
        lines.push(format!("{} cargo xtask store verify --remove", style::hint("do:")));
    }
    lines.join("\n") + "\n"
}

fn gc(store: &Store, removed: &[Removed], dry_run: bool, json: bool) -> Result<Outcome, Failure> {
    let bytes = removed.iter().map(|one| one.bytes).sum();
    if json {
        let gone = |one: &Removed| Gone { path: one.path.display().to_string(), bytes: one.bytes, why: one.why };
        let (schema, store) = ("ptokit.store-gc/1", store.root().display().to_string());
        out::json(&GcDocument { schema, store, dry_run, bytes, removed: removed.iter().map(gone).collect() })?;
    } else {
        let line = |one: &Removed| format!("{:>10}  {} ({})", megabytes(one.bytes), one.path.display(), one.why);
        let mut lines: Vec<_> = removed.iter().map(line).collect();
        let verb = if dry_run { "would be freed" } else { "freed" };
        lines.push(format!("{:>10}  {verb} in `{}`", megabytes(bytes), store.root().display()));
        out::text(&(lines.join("\n") + "\n"))?;
    }
    Ok(Outcome::Passed)
}

fn age_days(item: &Item) -> u64 {
    item.built.elapsed().unwrap_or_default().as_secs() / DAY.as_secs()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn short(key: &str) -> String {
    if key.len() > SHOWN_KEY { format!("{}...", &key[..SHOWN_KEY]) } else { key.to_owned() }
}
