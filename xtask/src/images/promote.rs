//! `images promote`.

use pto_images::promote::{Action, Promotion, PromotionReport, Public};
use serde::Serialize;

use super::common::{ImageArgs, Kept, ReaderArgs, RecordArgs, RegistryArgs, going_on, locks, typed, upstream};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images promote`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask images promote arm-a5 --password-stdin < credentials\n  \
                  cargo xtask images promote arm-a5 --resume --password-stdin < credentials")]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
    /// Go on with what was begun, or take it back if a newer recipe is there by now
    #[arg(long)]
    resume: bool,
    /// With --resume: take back what was begun
    #[arg(long, requires = "resume")]
    undo: bool,
    #[command(flatten)]
    registry: RegistryArgs,
    #[command(flatten)]
    readers: ReaderArgs,
    #[command(flatten)]
    records: RecordArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    report: &'a PromotionReport,
    problems: Vec<String>,
    notes: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let (config, image) = args.image.load(&cx)?;
    let promotion = Promotion {
        records: args.records.records(&cx, Kept::Publication, &image, &args.registry.repository(&config)?)?,
        registry: args.registry.options_for(&args.readers)?,
        upstream: upstream(&cx, &config),
        locks: locks(&cx)?,
    };
    let action = match (args.resume, args.undo) {
        (false, _) => Action::Begin,
        (true, false) => Action::Resume,
        (true, true) => Action::Undo,
    };
    let going_on = |error| {
        going_on(error, &promotion.records, &image.name, &typed(&args.image.file, &args.registry, &args.records))
    };
    let report = promotion.run(&cx, action).map_err(going_on)?;
    if common.json {
        let (problems, notes) = (report.problems(), report.notes());
        out::json(&Document { schema: "ptokit.images-promote/1", report: &report, problems, notes })?;
    } else {
        out::text(&(promotion_lines(&report).join("\n") + "\n"))?;
    }
    Ok(outcome(&report))
}

/// Negative if something is left to do.
pub fn outcome(report: &PromotionReport) -> Outcome {
    Outcome::passed_if(report.problems().is_empty())
}

/// What users see, for people.
pub fn seen(public: &Public) -> String {
    let platforms: Vec<_> = public.platforms.iter().map(ToString::to_string).collect();
    match (&public.digest, platforms.as_slice()) {
        (None, _) => "nothing".to_owned(),
        (Some(digest), []) => digest.to_string(),
        (Some(digest), platforms) => format!("{digest} for {}", platforms.join(", ")),
    }
}

/// What the promotion did, for people.
pub fn promotion_lines(report: &PromotionReport) -> Vec<String> {
    let what = match (report.promoted, report.was_over) {
        (true, false) => "promoted",
        (true, true) => "was promoted before:",
        (false, false) => "taken back",
        (false, true) => "was taken back before:",
    };
    let mut lines = vec![format!("{} {}", style::good(what), report.reference)];
    let shown = |digest: &Option<_>| digest.as_ref().map_or("nothing".to_owned(), ToString::to_string);
    lines.push(format!("  current   {}", shown(&report.current)));
    lines.push(format!("  previous  {}", shown(&report.previous)));
    for moved in &report.moved {
        lines.push(format!("  moved     {}: {} -> {}", moved.tag, shown(&moved.from), shown(&moved.to)));
    }
    if let Some(public) = &report.public {
        lines.push(format!("  users     get {}", seen(public)));
    }
    lines.extend(report.notes().iter().map(|note| format!("{} {note}", style::warning("note:"))));
    lines.extend(report.problems().iter().map(|problem| format!("{} {problem}", style::error("error:"))));
    lines
}
