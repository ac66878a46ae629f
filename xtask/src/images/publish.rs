//! `images publish`.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use pto_context::Context;
use pto_images::config::Image;
use pto_images::promote::{Promotion, Publication, PublicationReport};
use pto_images::validation::{RESULTS, Results};
use serde::Serialize;

use super::common::{
    ImageArgs, Kept, ReaderArgs, RecordArgs, RegistryArgs, going_on, locks, named, number, typed, upstream,
    validation_dir,
};
use super::promote::{outcome, promotion_lines};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images publish`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask images publish arm-a5 --password-stdin < credentials")]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
    /// What `images test` wrote: which image was tested, and that it passed [default: where it writes]
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// The run that publishes; a part of the temporary tag [default: the time, in seconds]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    run: Option<String>,
    /// Which attempt of the run this is; a part of the temporary tag
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    attempt: u32,
    /// Upload and compare, and move no tag
    #[arg(long)]
    upload_only: bool,
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
    report: &'a PublicationReport,
    problems: Vec<String>,
    notes: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let (config, image) = args.image.load_enabled(&cx)?;
    let results = tested(args, &cx, &image)?;
    let repository = args.registry.repository(&config)?;
    let promotion = Promotion {
        records: args.records.records(&cx, Kept::Publication, &image, &repository)?,
        registry: args.registry.options_for(&args.readers)?,
        upstream: upstream(&cx, &config),
        locks: locks(&cx)?,
    };
    let publication = Publication {
        image: image.name.clone(),
        repository,
        names: image.names(),
        platform: image.platform(),
        run: args.run.clone().unwrap_or_else(now),
        attempt: args.attempt,
        commit: results.recipe.clone(),
        tested: results.id,
        promotion,
        upload_only: args.upload_only,
    };
    let typed = typed(&args.image.file, &args.registry, &args.records);
    let going_on = |error| going_on(error, &publication.promotion.records, &image.name, &typed);
    let report = publication.run(&cx).map_err(going_on)?;
    let next = cx.called().spell(&format!("cargo xtask images promote {}{typed}", image.name));
    let problems = report.promotion.as_ref().map(|promotion| promotion.problems()).unwrap_or_default();
    if common.json {
        let notes = report.promotion.as_ref().map(|promotion| promotion.notes()).unwrap_or_default();
        out::json(&Document { schema: "ptokit.images-publish/1", report: &report, problems, notes })?;
    } else {
        out::text(&text(&report, &next))?;
    }
    Ok(report.promotion.as_ref().map_or(Outcome::Passed, outcome))
}

/// The results that were named, or those that a validation wrote where it usually does; they have to be good.
fn tested(args: &Args, cx: &Context, image: &Image) -> Result<Results, Failure> {
    let usual = || validation_dir(cx, image).join(RESULTS);
    let results = Results::load(&args.results.clone().unwrap_or_else(usual));
    let passed = results.and_then(|results| results.require_passed(image).map(|()| results));
    passed.map_err(|error| named(error, &image.name, &args.image.file.typed()))
}

/// A run that nobody numbered.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().to_string()
}

fn text(report: &PublicationReport, next: &str) -> String {
    let mut lines = vec![format!("{} {}", style::good("uploaded"), report.temporary)];
    lines.push(format!("  manifest  {}, as tested", report.manifest));
    match &report.promotion {
        Some(promotion) => lines.extend(promotion_lines(promotion)),
        None => lines.push(format!("{} {next}", style::hint("next:"))),
    }
    lines.join("\n") + "\n"
}
