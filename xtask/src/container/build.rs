//! `container build`.

use std::path::{Path, PathBuf};

use pto_container::{BuildPlan, BuildRequest, CheckId, Series, Stage, shell_line};
use pto_process::shell_word;
use serde::Serialize;

use super::locked::locked;
use super::run::stage;
use super::{Found, announce_refusal, client_line, failure, lines, series};
use crate::exit::{Failure, Outcome};
use crate::setup::{Common, workspace_root};
use crate::{out, style};

/// What a dry run shows for a digest that is known only after the pull.
const UNKNOWN_DIGEST: &str = "DIGEST_OF_THE_PULL";

/// `container build`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask container build a3\n  cargo xtask container build a5 --target dist --build-arg PYPTO_REF=main --dry-run\n  \
                  cargo xtask container build --lock images.lock.json"
)]
pub struct Args {
    /// a3 (for A2 and A3) or a5
    #[arg(value_name = "SERIES", value_parser = series, required_unless_present = "lock")]
    series: Option<Series>,
    /// Build exactly what this plan of `images plan` has: base and revisions, up to the last stage
    #[arg(long, value_name = "FILE", conflicts_with_all = ["series", "target", "cann_repository", "cann_tag", "cann_digest", "build_arg"])]
    lock: Option<PathBuf>,
    /// With --lock: which image of the plan [default: the only one]
    #[arg(long, value_name = "NAME", requires = "lock")]
    image: Option<String>,
    /// Up to which stage: deps, sim, dist
    #[arg(long, value_name = "STAGE", default_value_t = Stage::Sim, value_parser = stage)]
    target: Stage,
    /// The image's name [default: pypto-dev:SERIES-STAGE, with the base's tag behind it if one is named]
    #[arg(long, value_name = "IMAGE")]
    tag: Option<String>,
    /// Repository of the base
    #[arg(long, value_name = "REPOSITORY")]
    cann_repository: Option<String>,
    /// Tag of the base [default: PYPTO_CANN_TAG, the one of CANN 9.2.0 for the series]
    #[arg(long, value_name = "TAG")]
    cann_tag: Option<String>,
    /// Digest of the base [default: that of what the tag stands for now]
    #[arg(long, value_name = "DIGEST")]
    cann_digest: Option<String>,
    /// A build argument of the Dockerfile; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    build_arg: Vec<String>,
    /// The directory that is sent to the engine [default: this repository]
    #[arg(long, value_name = "DIR")]
    context: Option<PathBuf>,
    /// Our own program, below that directory [default: target/release/xtask]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The network of the build's commands, as Docker names it: `host` for a proxy that only this machine reaches
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// The proxy of the build [default: PYPTO_DOCKER_PROXY, those of the environment]
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Go on although this check fails: disk
    #[arg(long, value_name = "CHECK", value_parser = check)]
    skip_check: Vec<CheckId>,
    /// Print the docker commands and run none that changes anything
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    image: &'a str,
    base: &'a str,
    commands: Vec<String>,
    findings: Vec<Found<'a>>,
    /// The image's id; `None` if nothing was built.
    id: Option<String>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    crate::setup_home::checked_proxy(args.proxy.as_deref())?;
    let context = args.context.clone().unwrap_or_else(|| workspace_root(&cx));
    let request = BuildRequest {
        stage: args.target,
        tag: args.tag.clone(),
        binary: args.binary.clone(),
        cann_repository: args.cann_repository.clone(),
        cann_tag: args.cann_tag.clone(),
        cann_digest: args.cann_digest.clone(),
        args: args.build_arg.clone(),
        network: args.network.clone(),
        proxy: args.proxy.clone(),
        skip: args.skip_check.clone(),
        ..BuildRequest::new(args.series.unwrap_or(Series::A3), context)
    };
    let request = match &args.lock {
        Some(lock) => locked(&cx, lock, args.image.as_deref(), request)?,
        None => request,
    };
    let plan = BuildPlan::make(&cx, &request).map_err(|error| failure(&cx, error))?;
    let digest = plan.digest.as_deref().unwrap_or(UNKNOWN_DIGEST);
    let commands: Vec<_> = plan.pull().into_iter().chain([plan.command(digest)]).collect();
    let id = match args.dry_run {
        true => {
            plan.refusals().iter().for_each(|finding| announce_refusal(common, finding));
            None
        }
        false => plan.run(client_line(common)).map_err(|error| failure(&cx, error))?.id,
    };
    if common.json {
        let commands = commands.iter().map(shell_line).collect();
        let (image, base, findings) = (&plan.tag, &plan.base, Found::all(&plan.findings, &args.skip_check));
        out::json(&Document { schema: "ptokit.container-build/1", image, base, commands, findings, id })?;
    } else if args.dry_run {
        out::text(&lines(&commands.iter().map(shell_line).collect::<Vec<_>>()))?;
    } else {
        let built = format!("{} {} ({})\n", style::good("built"), plan.tag, id.unwrap_or_default());
        out::text(&format!("{built}{} {}\n", style::hint("next:"), cx.called().spell(&next(args, &plan.tag))))?;
    }
    Ok(Outcome::Passed)
}

/// What the image is for: a validation, if it was planned, else a container.
fn next(args: &Args, tag: &str) -> String {
    let quoted = |path: &Path| shell_word(&path.to_string_lossy());
    match (&args.lock, args.series) {
        (Some(lock), _) => {
            let image = args.image.as_deref().unwrap_or("IMAGE");
            format!("cargo xtask images test {image} --local {} --lock {} --run NUMBER", shell_word(tag), quoted(lock))
        }
        (None, series) => {
            let series = series.map(|series| series.to_string()).unwrap_or_default();
            let stage = if args.target == Stage::Sim { String::new() } else { format!(" --target {}", args.target) };
            let base =
                args.cann_tag.as_ref().map(|base| format!(" --cann-tag {}", shell_word(base))).unwrap_or_default();
            let named = args.tag.as_ref().map(|tag| format!(" --image {}", shell_word(tag)));
            format!("cargo xtask container run {series} CARD{}", named.unwrap_or(stage + &base))
        }
    }
}

/// The check that a build makes and that may be skipped.
fn check(given: &str) -> Result<CheckId, String> {
    let known = given.parse::<CheckId>().ok().filter(|check| *check == CheckId::Disk);
    known.ok_or_else(|| "expected `disk`; the others are those of `container run`".to_owned())
}

fn pair(given: &str) -> Result<String, String> {
    let named = given.split_once('=').is_some_and(|(name, _)| !name.is_empty());
    if named { Ok(given.to_owned()) } else { Err("expected `NAME=VALUE`".to_owned()) }
}
