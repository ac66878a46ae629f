//! `images status`.

use pto_images::promote::{self, Begun, State, Status, TagFact, Upload, status};
use pto_images::registry::Client;
use serde::Serialize;

use super::common::{ImageArgs, RecordArgs, RegistryArgs, typed};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask images status arm-a5")]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
    #[command(flatten)]
    registry: RegistryArgs,
    #[command(flatten)]
    records: RecordArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    status: &'a Status,
    settled: bool,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let (config, image) = args.image.load(&cx)?;
    let client = Client::new(&cx, args.registry.repository(&config)?, args.registry.options()?)?;
    let records = args.records.existing(&cx, &image, client.repository())?;
    let status = status(&client, &image.names(), records.as_ref())?;
    let settled = status.is_settled();
    if common.json {
        out::json(&Document { schema: "ptokit.images-status/1", status: &status, settled })?;
    } else {
        let typed = typed(&args.image, &args.registry, &args.records);
        out::text(&text(&status, &image.name, &typed))?;
    }
    Ok(Outcome::passed_if(settled))
}

fn text(status: &Status, image: &str, typed: &str) -> String {
    let mut lines = vec![status.reference.clone()];
    lines.push(format!("  current   {}", fact(&status.current, "nothing was published yet")));
    lines.push(format!("  previous  {}", fact(&status.previous, "nothing yet")));
    for temporary in &status.temporary {
        let what = match temporary.image {
            Upload::Current => "current; only the tag is left over",
            Upload::Previous => "the version before; only the tag is left over",
            Upload::Older => "built before what is current; only the tag is left over",
            Upload::NotPromoted => "uploaded and not promoted",
        };
        lines.push(format!("  upload    {} {}: {what}", temporary.tag, temporary.digest));
    }
    lines.extend(status.begun.iter().map(|begun| format!("  {:<9} {}", begun.kind.name(), stands(begun))));
    match next(status, image, typed) {
        Some(next) => lines.push(format!("{} {next}", style::hint("do:"))),
        None => lines.push(format!("{} nothing is left to do", style::good("ok"))),
    }
    lines.join("\n") + "\n"
}

fn fact(fact: &Option<TagFact>, nothing: &str) -> String {
    let Some(fact) = fact else { return nothing.to_owned() };
    let platforms: Vec<_> = fact.platforms.iter().map(ToString::to_string).collect();
    let built = fact.created.as_ref().map(|at| format!(", built {at}")).unwrap_or_default();
    format!("{} for {}{built}", fact.digest, platforms.join(", "))
}

fn stands(begun: &Begun) -> &'static str {
    match (begun.state, begun.outcome, begun.over) {
        (None, _, _) => "the upload was begun",
        (_, Some(promote::Outcome::TakenBack), true) => "was taken back",
        (Some(State::Done), _, true) => "is done",
        (_, _, true) => "is done; the tags were moved since",
        (_, Some(_), false) => "the tags are where they are to be; what follows is left",
        (Some(State::Foreign), ..) => "somebody else has moved a tag since",
        (Some(State::Done), ..) => "the tags are where they are to be; what follows is left",
        _ if begun.taking_back => "is being taken back",
        (Some(State::NotStarted), ..) => "no tag was moved yet",
        (Some(State::PreviousMoved), ..) => "half way: `previous` was moved, `current` was not",
    }
}

/// What to do, if there is something, with what was typed of where it is.
fn next(status: &Status, image: &str, typed: &str) -> Option<String> {
    let resume = || Some(format!("cargo xtask images promote {image} --resume{typed} --password-stdin"));
    match &status.begun {
        Some(begun) if begun.outcome.is_none() && begun.state == Some(State::Foreign) => {
            Some("publish again: a new publication begins from where the tags are".to_owned())
        }
        Some(begun) if !begun.over && begun.state.is_none() => {
            Some(format!("cargo xtask images publish {image}{typed} ..."))
        }
        Some(begun) if !begun.over && begun.kind == promote::Kind::Promotion => resume(),
        Some(begun) if !begun.over => Some(format!("cargo xtask images rollback {image}{typed} --password-stdin")),
        _ if status.temporary.iter().any(|left| left.image == Upload::NotPromoted) => {
            Some("delete the tags of uploads by name in the registry, or promote the one that is meant".to_owned())
        }
        _ if !status.temporary.is_empty() => Some("delete the tags of uploads by name in the registry".to_owned()),
        _ if status.current.is_none() => Some(format!("cargo xtask images publish {image}{typed} ...")),
        _ => None,
    }
}
