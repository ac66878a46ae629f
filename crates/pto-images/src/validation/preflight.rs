//! Whether this host can validate an image: checked before a build that takes hours.

use std::time::Duration;

use pto_context::places::driver_root;
use pto_context::{Context, Fault, files};
use pto_docker::Docker;
use pto_platform::Machine;
use pto_platform::files::parse_driver_info;
use pto_process::{Invocation, Output};

use super::cases::{QUEUE, VERSION};
use crate::config::{Config, Image};
use crate::error::Error;
use crate::proxy;

/// The workflow's name for the runner on this host.
const RUNNER_VARIABLE: &str = "RUNNER_NAME";
/// The runtime of Docker that gives containers their cards.
const RUNTIME: &str = "ascend";
/// How long the queue's client may take to print its help.
const HELP: Duration = Duration::from_secs(60);
/// Far above any file with a driver's version.
const LARGEST: u64 = 1 << 20;

/// What keeps a host from validating an image, and the driver that results would be of.
#[derive(Debug)]
pub struct Preflight {
    /// The driver's version, if it is the one that the configuration names.
    pub driver: Option<String>,
    /// Everything that is in the way; nothing if the image can be validated here.
    pub obstacles: Vec<Error>,
}

/// Looks at everything that a validation needs of its host. Reserves no card.
///
/// # Errors
/// [`Error::Interrupted`]; whatever else cannot be found out is an obstacle.
pub fn preflight(cx: &Context, config: &Config, image: &Image) -> Result<Preflight, Error> {
    let (driver, other_host) = match host(cx, image) {
        Ok(driver) => (Some(driver), None),
        Err(error) => (None, Some(error)),
    };
    let checks = [require_proxy(cx, config), require_engine(cx, image), require_queue(cx), require_devices(cx, image)];
    let obstacles: Vec<_> = other_host.into_iter().chain(checks.into_iter().filter_map(Result::err)).collect();
    match obstacles.iter().any(|obstacle| obstacle.fault() == Fault::Interrupt) {
        true => Err(Error::Interrupted),
        false => Ok(Preflight { driver, obstacles }),
    }
}

fn require_proxy(cx: &Context, config: &Config) -> Result<(), Error> {
    match config.proxy_required && cx.var(proxy::VARIABLE).is_none() {
        true => Err(Error::ProxyRequired),
        false => Ok(()),
    }
}

/// Checks that the engine starts images for this processor, with cards.
fn require_engine(cx: &Context, image: &Image) -> Result<(), Error> {
    let info = Docker::new(cx)?.info()?;
    let machine = |name: &str| name.parse::<Machine>().ok();
    if let Some(found) = info.architecture.filter(|found| machine(found) != machine(&image.architecture)) {
        return Err(other_host("the processor", found, &image.architecture));
    }
    match info.runtimes.iter().any(|runtime| runtime == RUNTIME) {
        true => Ok(()),
        false => Err(lacks(format!("Docker runtime `{RUNTIME}`, only `{}`", info.runtimes.join("`, `")))),
    }
}

fn require_devices(cx: &Context, image: &Image) -> Result<(), Error> {
    let missing: Vec<_> = image.devices.iter().filter(|device| !files::exists(cx, device)).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(lacks(format!("`{}`", missing.join("` and no `")))) }
}

/// The driver's version, if this is the host that the configuration names.
pub(super) fn host(cx: &Context, image: &Image) -> Result<String, Error> {
    if let (Some(expected), Some(found)) = (&image.runner_name, cx.var(RUNNER_VARIABLE))
        && *expected != found
    {
        return Err(other_host("the runner", found, expected));
    }
    let unknown = |problem: String| Error::DriverUnknown { problem };
    let not_named = || unknown(format!("the configuration of `{}` does not name it", image.name));
    let expected = image.driver.as_deref().ok_or_else(not_named)?;
    // A path with a colon cannot be mounted.
    if driver_root(cx).to_string_lossy().contains(':') {
        return Err(unknown(format!(
            "`{}` has a colon in it, which Docker takes for a separator",
            driver_root(cx).display()
        )));
    }
    let file = cx.under_root(driver_root(cx).join(VERSION));
    let unread = |error| unknown(format!("cannot read `{}`: {}", file.display(), files::reason(&error)));
    let text = files::bytes(&file, LARGEST).map_err(unread)?;
    let found = parse_driver_info(&String::from_utf8_lossy(&text)).version.map(|version| version.to_string());
    let found = found.ok_or_else(|| unknown(format!("`{}` holds no version", file.display())))?;
    if found == expected { Ok(found) } else { Err(other_host("the driver", found, expected)) }
}

/// Checks that the queue's client can find and kill tasks: without that, nothing could clean up after a run.
fn require_queue(cx: &Context) -> Result<(), Error> {
    let help: Output = Invocation::new(QUEUE).arg("--help").deadline(HELP).run(cx).map_err(Error::Queue)?;
    let said = format!("{}{}", help.stdout.text(), help.stderr.text());
    let words: Vec<_> = said.split(|c: char| c.is_whitespace() || ",=[]|'\"`".contains(c)).collect();
    let missing = ["--find", "--kill"].into_iter().find(|option| !help.success() || !words.contains(option));
    match missing {
        None => Ok(()),
        Some(option) => Err(lacks(format!("`{QUEUE}` with `{option}`, by its `--help`"))),
    }
}

fn lacks(what: String) -> Error {
    Error::HostLacks { what }
}

fn other_host(what: &'static str, found: String, expected: &str) -> Error {
    Error::OtherHost { what, found, expected: expected.to_owned() }
}
