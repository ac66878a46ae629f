//! `images publish`.

use std::path::PathBuf;

use pto_images::promote::{Promotion, Publication, PublicationReport};
use pto_images::validation::Results;
use serde::Serialize;

use super::common::{ImageArgs, Kept, ReaderArgs, RecordArgs, RegistryArgs, going_on, locks, number, typed, upstream};
use super::promote::{outcome, promotion_lines};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images publish`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask images publish arm-a5 --results results.json --run 1234 --password-stdin < credentials"
)]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
    /// What `images test` wrote: which image was tested, and that it passed
    #[arg(long, value_name = "FILE")]
    results: PathBuf,
    /// The run that publishes; a part of the temporary tag
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    run: String,
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
    let results = Results::load(&args.results)?;
    results.require_passed(&image)?;
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
        run: args.run.clone(),
        attempt: args.attempt,
        commit: results.recipe.clone(),
        tested: results.id,
        promotion,
        upload_only: args.upload_only,
    };
    let going_on = |error| {
        let typed = typed(&args.image.file, &args.registry, &args.records);
        going_on(error, &publication.promotion.records, &image.name, &typed)
    };
    let report = publication.run(&cx).map_err(going_on)?;
    let problems = report.promotion.as_ref().map(|promotion| promotion.problems()).unwrap_or_default();
    if common.json {
        let notes = report.promotion.as_ref().map(|promotion| promotion.notes()).unwrap_or_default();
        out::json(&Document { schema: "ptokit.images-publish/1", report: &report, problems, notes })?;
    } else {
        out::text(&text(&report))?;
    }
    Ok(report.promotion.as_ref().map_or(Outcome::Passed, outcome))
}

fn text(report: &PublicationReport) -> String {
    let mut lines = vec![format!("{} {}", style::good("uploaded"), report.temporary)];
    lines.push(format!("  manifest  {}, as tested", report.manifest));
    lines.extend(report.promotion.iter().flat_map(promotion_lines));
    lines.join("\n") + "\n"
}
