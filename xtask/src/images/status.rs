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
    let status = status(&client, &image.names(), &records)?;
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
            Upload::Superseded => "older than what is current, or was current before; only the tag is left over",
            Upload::NotPromoted => "uploaded and not promoted",
        };
        lines.push(format!("  upload    {} {}: {what}", temporary.tag, temporary.digest));
    }
    for begun in &status.begun {
        let at = begun.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        lines.push(format!("  {:<9} {}{at}", begun.kind.name(), stands(begun)));
    }
    match next(status, image, typed) {
        Some(next) => lines.push(format!("{} {next}", style::hint("do:"))),
        None => lines.push(format!("{} nothing is left to do", style::good("ok"))),
    }
    if !status.temporary.is_empty() && status.is_settled() {
        let left = "tags of uploads are left over: delete them by name in the registry, never by digest";
        lines.push(format!("{} {left}", style::warning("note:")));
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
        (Some(State::Foreign), ..) => "was not seen to its end; somebody has moved a tag since",
        (Some(State::Done), ..) => "the tags are where they are to be; what follows is left",
        _ if begun.taking_back => "is being taken back",
        (Some(State::NotStarted), ..) => "no tag was moved yet",
        (Some(State::PreviousMoved), ..) => "half way: `previous` was moved, `current` was not",
    }
}

/// What to do next, if anything, with the options that were typed to say where the image is.
fn next(status: &Status, image: &str, typed: &str) -> Option<String> {
    let verb = |verb: &str, more: &str| Some(format!("cargo xtask images {verb} {image}{typed}{more}"));
    match status.begun.iter().find(|begun| begun.is_pending()) {
        Some(Begun { outcome: None, state: Some(State::Foreign), .. }) => {
            Some("publish again: a new publication begins from where the tags are".to_owned())
        }
        Some(Begun { state: None, .. }) => verb("publish", " ..."),
        Some(Begun { kind: promote::Kind::Promotion, .. }) => verb("promote", " --resume --password-stdin"),
        Some(Begun { kind: promote::Kind::Rollback, .. }) => verb("rollback", " --password-stdin"),
        None if status.temporary.iter().any(|left| left.image == Upload::NotPromoted) => Some(
            "an upload waits: `images promote` with its records makes it current; if it is not wanted, delete its tag by name in \
             the registry"
                .to_owned(),
        ),
        None if status.current.is_none() => verb("publish", " ..."),
        None => None,
    }
}
