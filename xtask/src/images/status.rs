//! `images status`.

use pto_context::{Called, Context, counted};
use pto_images::config::{Config, Image};
use pto_images::promote::{self, Begun, State, Status, TagFact, Upload, status};
use pto_images::registry::Client;
use serde::Serialize;

use super::common::{FileArgs, RecordArgs, RegistryArgs, find_image, named, typed};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask images status\n  cargo xtask images status arm-a5")]
pub struct Args {
    /// The images' names in the configuration [default: every enabled image]
    #[arg(value_name = "IMAGE")]
    images: Vec<String>,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    registry: RegistryArgs,
    #[command(flatten)]
    records: RecordArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    images: &'a [Shown],
    settled: bool,
}

/// One of the images.
#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    #[serde(flatten)]
    status: Status,
    settled: bool,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let config = args.file.load(&cx)?;
    let chosen = choose(args, &config)?;
    let client = Client::new(&cx, args.registry.repository(&config)?, args.registry.options()?)?;
    let images = chosen.into_iter().map(|image| ask(args, &cx, &client, image)).collect::<Result<Vec<_>, _>>()?;
    let settled = images.iter().all(|image| image.settled);
    if common.json {
        out::json(&Document { schema: "ptokit.images-status/1", images: &images, settled })?;
    } else {
        let typed = typed(&args.file, &args.registry, &args.records);
        let texts: Vec<_> = images.iter().map(|image| text(&image.status, &image.name, &typed, cx.called())).collect();
        out::text(&texts.join("\n"))?;
    }
    Ok(Outcome::passed_if(settled))
}

/// Those that were named, each once, or all that are enabled.
fn choose<'a>(args: &Args, config: &'a Config) -> Result<Vec<&'a Image>, Failure> {
    let mut chosen: Vec<&Image> = Vec::new();
    for name in &args.images {
        let image = find_image(config, name)?;
        if !chosen.contains(&image) {
            chosen.push(image);
        }
    }
    if args.images.is_empty() {
        chosen.extend(config.images.iter().filter(|image| image.enabled));
    }
    match (args.records.named(), chosen.len()) {
        (Some(_), found) if found != 1 => {
            let message = format!("`--records` holds those of 1 image, and {} are asked for", counted(found, "image"));
            Err(Failure::usage(message, "name the image".to_owned()))
        }
        _ => Ok(chosen),
    }
}

fn ask(args: &Args, cx: &Context, client: &Client, image: &Image) -> Result<Shown, Failure> {
    let records = args.records.existing(cx, image, client.repository())?;
    let named = |error| named(error, &image.name, &typed(&args.file, &args.registry, &args.records));
    let status = status(client, &image.names(), &records).map_err(named)?;
    Ok(Shown { name: image.name.clone(), settled: status.is_settled(), status })
}

fn text(status: &Status, image: &str, typed: &str, called: Called) -> String {
    let mut lines = vec![status.reference.clone()];
    lines.push(format!("  current   {}", fact(&status.current, "nothing was published yet")));
    lines.push(format!("  previous  {}", fact(&status.previous, "nothing yet")));
    for temporary in &status.temporary {
        let what = match temporary.image {
            Upload::Current => "current; only the tag is left over",
            Upload::Previous => "the version before; only the tag is left over",
            Upload::Pending => "what was begun needs it",
            Upload::TakenBack => "taken back; only the tag is left over",
            Upload::Superseded => "older than what is current, or was current before; only the tag is left over",
            Upload::NotPromoted => "uploaded and not promoted",
            Upload::Unreadable => "damaged: nobody can use it",
        };
        let digest = temporary.digest.as_ref().map(|digest| format!(" {digest}")).unwrap_or_default();
        lines.push(format!("  upload    {}{digest}: {what}", temporary.tag));
        lines.extend(temporary.problem.iter().map(|problem| format!("            {problem}")));
    }
    for begun in &status.begun {
        let at = begun.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        lines.push(format!("  {:<9} {}{at}", begun.kind.name(), stands(begun)));
    }
    match next(status, image, typed, called) {
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
    if let Some(problem) = &fact.problem {
        return format!("{}, which cannot be read: {problem}", fact.digest);
    }
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
fn next(status: &Status, image: &str, typed: &str, called: Called) -> Option<String> {
    let verb = |verb: &str, more: &str| Some(called.spell(&format!("cargo xtask images {verb} {image}{more}{typed}")));
    match status.begun.iter().find(|begun| begun.is_pending()) {
        Some(Begun { outcome: None, state: Some(State::Foreign), .. }) => {
            Some("publish again: a new publication begins from where the tags are".to_owned())
        }
        Some(Begun { state: None, .. }) => verb("publish", ""),
        Some(Begun { kind: promote::Kind::Promotion, .. }) => verb("promote", " --resume"),
        Some(Begun { kind: promote::Kind::Rollback, .. }) => verb("rollback", ""),
        None if status.temporary.iter().any(|left| left.image == Upload::NotPromoted) => Some(
            "an upload waits: `images promote` with its records makes it current; if it is not wanted, delete its tag by name in \
             the registry"
                .to_owned(),
        ),
        None if status.current.is_none() => verb("publish", ""),
        None => None,
    }
}
