//! `container run`.

use std::ffi::OsString;
use std::path::PathBuf;

use pto_container::{Access, CheckId, Configuration, Mode, Plan, Request, Series, Stage};
use serde::Serialize;

use super::{Found, announce, announce_refusal, client_line, failure, has_terminal, refuse_json, series, show};
use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::Common;

/// `container run`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask container run a3 0\n  cargo xtask container run a5 2 3 --pypto-src ~/pypto --dry-run\n  \
                  cargo xtask container run a3 1 -- pypto-doctor --strict\n  \
                  cargo xtask container run a3 --device-access none"
)]
pub struct Args {
    /// a3 (for A2 and A3) or a5
    #[arg(value_name = "SERIES", value_parser = series)]
    series: Series,
    /// Physical cards of this host, `2 3` or `2,3`; none with `--device-access none`
    #[arg(value_name = "CARD", value_delimiter = ',')]
    cards: Vec<u32>,
    /// The image [default: PYPTO_IMAGE, the one that `container build` makes]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Which stage of an image that was built here: deps, sim, dist
    #[arg(long, value_name = "STAGE", default_value_t = Stage::Sim, value_parser = stage)]
    target: Stage,
    /// The base of an image that was built here [default: PYPTO_CANN_TAG]
    #[arg(long, value_name = "TAG")]
    cann_tag: Option<String>,
    /// PyPTO's checkout [default: PYPTO_SRC, the one around the working directory, a volume]
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    pypto_src: Option<PathBuf>,
    /// The checkout of pypto-lib [default: PYPTO_LIB_SRC, the one beside PyPTO's, a volume]
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    pypto_lib_src: Option<PathBuf>,
    /// A directory with `pypto` and `pypto-lib` in it [default: PYPTO_HOST_WORKSPACE]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The volume for caches [default: PYPTO_CACHE_VOLUME, one by the container's name]
    #[arg(long, value_name = "VOLUME")]
    cache_volume: Option<String>,
    /// The container's name [default: PYPTO_CONTAINER_NAME, pypto-SERIES-dev]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Size of /dev/shm [default: PYPTO_SHM_SIZE, 16g]
    #[arg(long, value_name = "SIZE")]
    shm_size: Option<String>,
    /// How it gets at the NPUs: auto, ascend, privileged, none [default: PYPTO_DEVICE_ACCESS, auto]
    #[arg(long, value_name = "HOW", value_parser = access)]
    device_access: Option<Access>,
    /// The proxy inside [default: PYPTO_DOCKER_PROXY, those of the environment]
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Go on although this check fails: series, disk, card, driver-pair; may be given several times
    #[arg(long, value_name = "CHECK", value_parser = check)]
    skip_check: Vec<CheckId>,
    /// Print the docker commands and run none that changes anything
    #[arg(long)]
    dry_run: bool,
    /// A command to run instead of a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    container: &'a str,
    image: &'a str,
    announcement: String,
    commands: Vec<String>,
    configuration: &'a Configuration,
    findings: Vec<Found<'a>>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    if !args.dry_run {
        refuse_json(common, "`container run --dry-run --json` prints what would be run")?;
    }
    let cx = common.context()?;
    crate::setup_home::checked_proxy(args.proxy.as_deref())?;
    let plan = Plan::make(&cx, &request(args)).map_err(|error| failure(&cx, error))?;
    match plan.access.mode {
        // Even with `--quiet`, users have to know that all of the host is exposed.
        Mode::Privileged => out::say(&plan.announcement()),
        Mode::Ascend | Mode::None => announce(common, &plan.announcement()),
    }
    if args.dry_run {
        return dry_run(args, common, &plan).map_err(|error| failure(&cx, error))?;
    }
    let session = plan.enter(client_line(common)).map_err(|error| failure(&cx, error))?;
    Err(session.begin(&cx).into())
}

fn request(args: &Args) -> Request {
    Request {
        image: args.image.clone(),
        stage: args.target,
        cann_tag: args.cann_tag.clone(),
        pypto_src: args.pypto_src.clone(),
        pypto_lib_src: args.pypto_lib_src.clone(),
        workspace: args.workspace.clone(),
        cache_volume: args.cache_volume.clone(),
        name: args.name.clone(),
        shm_size: args.shm_size.clone(),
        access: args.device_access,
        proxy: args.proxy.clone(),
        terminal: has_terminal(),
        command: args.command.clone(),
        skip: args.skip_check.clone(),
        ..Request::new(args.series, args.cards.clone())
    }
}

fn dry_run(args: &Args, common: &Common, plan: &Plan) -> Result<Result<Outcome, Failure>, pto_container::Error> {
    plan.refusals().iter().for_each(|finding| announce_refusal(common, finding));
    let lines = plan.lines()?;
    let document = Document {
        schema: "ptokit.container-run/1",
        container: &plan.name,
        image: &plan.image,
        announcement: plan.announcement(),
        commands: lines.clone(),
        configuration: &plan.configuration,
        findings: Found::all(&plan.findings, &args.skip_check),
    };
    Ok(show(common, &lines, &document))
}

fn access(given: &str) -> Result<Access, String> {
    given.parse()
}

/// A check that may be skipped.
fn check(given: &str) -> Result<CheckId, String> {
    given.parse()
}

/// A stage of the image.
pub(super) fn stage(given: &str) -> Result<Stage, String> {
    given.parse()
}
