//! `images plan`.

use std::path::PathBuf;

use pto_context::Called;
use pto_images::config::{Config, Image};
use pto_images::plan::{Lock, LockedSource, PlanRequest};
use pto_images::registry::{Options, PlainHttp};
use pto_process::shell_word;
use serde::Serialize;

use super::common::{FileArgs, find_image, proxy};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask images plan arm-a5 --lock images.lock.json")]
pub struct Args {
    /// The images' names [default: all that are enabled]
    #[arg(value_name = "IMAGE")]
    images: Vec<String>,
    /// Write the plan to this file, for the steps that follow
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// The checkout with the recipe [default: the working directory]
    #[arg(long, value_name = "DIR")]
    checkout: Option<PathBuf>,
    /// Where that commit can be cloned from, for a change from a fork [default: as the configuration says]
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// Talk to registries on other machines without TLS
    #[arg(long)]
    plain_http: bool,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    lock: &'a Lock,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let config = args.file.load(&cx)?;
    let images = chosen(&config, &args.images)?;
    if let Some(lock) = &args.lock {
        out::refuse_unwritable(lock)?;
    }
    let proxy = proxy(&cx);
    if config.proxy_required && proxy.is_none() {
        return Err(Failure::blocked(
            "the configuration requires a proxy, and `PYPTO_DOCKER_PROXY` is not set",
            "set `PYPTO_DOCKER_PROXY` to one that this machine reaches, or `proxy_required` to false".to_owned(),
        ));
    }
    let plain_http = if args.plain_http { PlainHttp::Anywhere } else { PlainHttp::Loopback };
    let request = PlanRequest {
        checkout: args.checkout.clone().unwrap_or_else(|| cx.cwd().to_owned()),
        source: args.source.clone(),
        registry: Options { plain_http, ..Options::default() },
        proxy,
    };
    let lock = request.lock(&cx, &config, &images)?;
    if let Some(file) = &args.lock {
        lock.save(file)?;
    }
    if common.json {
        out::json(&Document { schema: "ptokit.images-plan/1", lock: &lock })?;
    } else {
        out::text(&text(&lock, args, cx.called()))?;
    }
    Ok(Outcome::Passed)
}

/// The images of these names, or all that are enabled.
fn chosen<'a>(config: &'a Config, names: &[String]) -> Result<Vec<&'a Image>, Failure> {
    if names.is_empty() {
        return Ok(config.images.iter().filter(|image| image.enabled).collect());
    }
    names.iter().map(|name| find_image(config, name)).collect()
}

fn text(lock: &Lock, args: &Args, called: Called) -> String {
    let source = |name: &str, source: &LockedSource| format!("{name:<10} {}", source.commit);
    let mut lines = vec![format!("{:<10} {}", "recipe", lock.recipe.commit)];
    lines.push(source("pypto", &lock.pypto));
    lines.push(source("pypto-lib", &lock.pypto_lib));
    lines.push(source("runtime", &lock.runtime));
    lines.push(format!("{:<10} {}", "pto-isa", lock.pto_isa));
    lines.push(format!("{:<10} {}", "ptoas", lock.ptoas.version));
    for image in &lock.images {
        let pinned = if image.base.pinned { "pinned" } else { "not pinned" };
        lines.push(format!("{:<10} {}@{} ({pinned})", image.name, image.base.repository, image.base.digest));
    }
    if let Some(file) = &args.lock {
        lines.push(format!("{} {}", style::good("wrote"), file.display()));
        let file = shell_word(&file.to_string_lossy());
        let image =
            lock.images.first().filter(|_| lock.images.len() > 1).map(|first| format!(" --image {}", first.name));
        let build = format!("cargo xtask container build --lock {file}{}", image.unwrap_or_default());
        lines.push(format!("{} {}", style::hint("next:"), called.spell(&build)));
    }
    lines.join("\n") + "\n"
}
