//! `images rollback`.

use pto_images::promote::{Rollback, RollbackReport};
use serde::Serialize;

use super::common::{ImageArgs, Kept, ReaderArgs, RecordArgs, RegistryArgs, locks, named, typed};
use super::promote::seen;
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images rollback`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask images rollback arm-a5 --records rollback --password-stdin < credentials"
)]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
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
    report: &'a RollbackReport,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let (config, image) = args.image.load(&cx)?;
    let repository = args.registry.repository(&config)?;
    let rollback = Rollback {
        image: image.name.clone(),
        names: image.names(),
        records: args.records.records(&cx, Kept::Rollback, &image, &repository)?,
        promotion: args.records.publication(&cx, &image, &repository)?,
        repository,
        registry: args.registry.options_for(&args.readers)?,
        locks: locks(&cx)?,
    };
    let named = |error| named(error, &image.name, &typed(&args.image.file, &args.registry, &args.records));
    let report = rollback.run(&cx).map_err(named)?;
    if common.json {
        out::json(&Document { schema: "ptokit.images-rollback/1", report: &report })?;
    } else {
        out::text(&text(&report))?;
    }
    Ok(Outcome::passed_if(report.public.problem.is_none()))
}

fn text(report: &RollbackReport) -> String {
    let mut lines = Vec::new();
    match &report.moved {
        Some(moved) => {
            let from = moved.from.as_ref().map_or("nothing".to_owned(), ToString::to_string);
            lines.push(format!("{} {}", style::good("rolled back"), report.reference));
            lines.push(format!("  was       {from}, which publishing that image again makes current"));
        }
        None => lines.push(format!("{} {} is the version before already", style::good("ok"), report.reference)),
    }
    lines.push(format!("  current   {}", report.current));
    lines.push(format!("  users     get {}", seen(&report.public)));
    lines.extend(report.public.problem.iter().map(|problem| format!("{} {problem}", style::error("error:"))));
    lines.join("\n") + "\n"
}
