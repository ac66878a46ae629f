//! `images plan`.

use std::path::{Path, PathBuf};

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
    let checkout = args.checkout.as_ref().map_or_else(|| cx.cwd().to_owned(), |dir| cx.cwd().join(dir));
    let config = args.file.load_of(&cx, &checkout)?;
    let images = chosen(&config, &args.images)?;
    if let Some(lock) = &args.lock {
        out::refuse_unwritable(lock)?;
        refuse_recipe(lock, &config, &checkout)?;
    }
    let proxy = proxy(&cx);
    if config.proxy_required && proxy.is_none() {
        return Err(pto_images::Error::ProxyRequired.into());
    }
    let plain_http = if args.plain_http { PlainHttp::Anywhere } else { PlainHttp::Loopback };
    let request = PlanRequest {
        checkout,
        source: args.source.clone(),
        registry: Options { plain_http, ..Options::default() },
        proxy,
    };
    let lock = request.lock(&cx, &config, &images)?;
    if let Some(file) = &args.lock {
        // Through a link: it is replaced as a whole.
        lock.save(&file.canonicalize().unwrap_or_else(|_| file.clone()))?;
    }
    if common.json {
        out::json(&Document { schema: "ptokit.images-plan/1", lock: &lock })?;
    } else {
        out::text(&text(&lock, args, cx.called()))?;
    }
    Ok(Outcome::Passed)
}

/// Refuses a plan that would be a part of the recipe: the next step would find the recipe changed.
fn refuse_recipe(lock: &Path, config: &Config, checkout: &Path) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let dir = real(lock.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let is_config = real(lock) == real(&config.file);
    if !is_config && !dir.starts_with(real(&checkout.join("docker"))) {
        return Ok(());
    }
    let message = format!("`{}` is a part of the recipe, so no plan of it can be there", lock.display());
    Err(Failure::usage(message, "name another file, beside `docker`".to_owned()))
}

/// The images of these names, or all that are enabled.
fn chosen<'a>(config: &'a Config, names: &[String]) -> Result<Vec<&'a Image>, Failure> {
    let mut chosen: Vec<&Image> = Vec::new();
    for name in names {
        let image = find_image(config, name)?;
        if !chosen.contains(&image) {
            chosen.push(image);
        }
    }
    if names.is_empty() {
        chosen.extend(config.images.iter().filter(|image| image.enabled));
    }
    match chosen.is_empty() {
        true => Err(Failure::usage(
            "no image is enabled",
            "enable one in the configuration, or name those to plan".to_owned(),
        )),
        false => Ok(chosen),
    }
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
