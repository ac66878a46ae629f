//! `ptoas install`.

use std::path::PathBuf;

use pto_context::{Context, with_causes};
use pto_ptoas::{Action, InstallOptions, Installation, PinSource, Source, install};
use pto_store::Store;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `ptoas install`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask ptoas install\n  cargo xtask ptoas install --checkout ~/pypto --proxy http://proxy:8080\n  \
                  cargo xtask ptoas install --versions-env versions.env --wheel ptoas-0.61-cp310-cp310-manylinux_2_34_x86_64.whl"
)]
pub struct Args {
    #[command(flatten)]
    pin: PinArgs,
    /// The release's wheel: a file on this machine, or its own address
    #[arg(long, value_name = "FILE|URL")]
    wheel: Option<String>,
    /// Ask here for `<tag>/<file>`; may be given several times, the first that has it counts [default: PTOKIT_PTOAS_URL, the releases of PTOAS]
    #[arg(long, value_name = "URL", conflicts_with_all = ["wheel", "index"])]
    base_url: Vec<String>,
    /// Ask this package index instead, `https://host/simple`
    #[arg(long, value_name = "URL", conflicts_with = "wheel")]
    index: Option<String>,
    /// Go through this proxy [default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY]; NO_PROXY counts in any case
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// The interpreter to install with [default: the first on this machine that the wheel takes]
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Install again what is there already
    #[arg(long)]
    force: bool,
}

/// Where the pin and the installation are.
#[derive(Debug, Clone, clap::Args)]
pub struct PinArgs {
    /// The checkout that pins PTOAS [default: PYPTO_SRC, /workspace/pypto, the working directory]
    #[arg(long, value_name = "DIR")]
    checkout: Option<PathBuf>,
    /// The file with the pin [default: toolchain/versions.env of the checkout]
    #[arg(long, value_name = "FILE")]
    versions_env: Option<PathBuf>,
    /// The installation [default: PTOAS_ROOT, /opt/pypto/ptoas]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl PinArgs {
    /// Where to look for the pin.
    pub fn pin(&self) -> PinSource {
        PinSource { file: self.versions_env.clone(), checkout: self.checkout.clone() }
    }

    /// Where the installation is.
    pub fn root(&self) -> Option<PathBuf> {
        self.root.clone()
    }
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    installation: &'a Installation,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let root = Store::default_root(&cx).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
    let options = InstallOptions {
        pin: args.pin.pin(),
        source: source(&cx, args),
        proxy: args.proxy.clone(),
        root: args.pin.root(),
        python: args.python.clone(),
        force: args.force,
    };
    let installation = install(&cx, &Store::open(root), &options)?;
    if common.json {
        out::json(&Document { schema: "ptokit.ptoas-install/1", installation: &installation })?;
    } else {
        out::text(&text(&installation))?;
    }
    Ok(Outcome::Passed)
}

fn source(cx: &Context, args: &Args) -> Source {
    match (&args.wheel, &args.index) {
        (Some(url), _) if url.contains("://") => Source::Url(url.clone()),
        (Some(file), _) => Source::File(file.into()),
        (_, Some(index)) => Source::Index(index.clone()),
        _ if args.base_url.is_empty() => Source::of(cx),
        _ => Source::Releases(args.base_url.clone()),
    }
}

fn text(it: &Installation) -> String {
    let what = match it.action {
        Action::Nothing => format!("{} PTOAS {} is there and sound, nothing to do", style::good("ok"), it.version),
        Action::Installed => format!("{} PTOAS {}", style::good("installed"), it.version),
    };
    let mut lines = vec![what, format!("  launcher  {}", it.launcher.display())];
    lines.extend(it.origin.iter().map(|origin| format!("  from      {origin}")));
    lines.extend(it.replaced.iter().map(|why| format!("  replaced  the one before: {why}")));
    let used = |dir: &PathBuf| format!("  in use    {}: deleted by the next run, once nobody uses it", dir.display());
    lines.extend(it.still_used.iter().map(used));
    lines.join("\n") + "\n"
}
