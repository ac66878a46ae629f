//! Whether this is the host that an image is to be validated on, which is known before hours of build.

use std::time::Duration;

use pto_context::places::driver_root;
use pto_context::{Context, files};
use pto_docker::Docker;
use pto_platform::files::parse_driver_info;
use pto_process::{Invocation, Output};

use super::cases::QUEUE;
use crate::config::Image;
use crate::error::Error;

/// Which runner of the workflow this is.
const RUNNER_VARIABLE: &str = "RUNNER_NAME";
/// What gives containers their cards.
const RUNTIME: &str = "ascend";
/// How long the queue's client may take to say what it knows.
const HELP: Duration = Duration::from_secs(60);
/// Far above any file with a driver's version.
const LARGEST: u64 = 1 << 20;

/// Everything that a validation needs of its host, and the driver's version. Nothing is reserved and nothing is run on a card.
///
/// # Errors
/// The host is not the one that the configuration names, or lacks something.
pub fn preflight(cx: &Context, image: &Image) -> Result<String, Error> {
    let driver = host(cx, image)?;
    queue(cx)?;
    let known = Docker::new(cx)?.info()?.runtimes;
    if !known.iter().any(|name| name == RUNTIME) {
        return Err(other("the list of Docker's runtimes", known.join(", "), RUNTIME));
    }
    let missing: Vec<_> = image.devices.iter().filter(|device| !files::exists(cx, device)).cloned().collect();
    if !missing.is_empty() {
        return Err(other("the device list", format!("none of {}", missing.join(", ")), &image.devices.join(", ")));
    }
    Ok(driver)
}

/// The driver's version, if this host is the one that is meant.
pub(super) fn host(cx: &Context, image: &Image) -> Result<String, Error> {
    if let (Some(expected), Some(found)) = (&image.runner_name, cx.var(RUNNER_VARIABLE))
        && *expected != found
    {
        return Err(other("the runner", found, expected));
    }
    let unknown = |problem: String| Error::DriverUnknown { problem };
    let not_named = || unknown(format!("the configuration of `{}` does not name it", image.name));
    let expected = image.driver.as_deref().ok_or_else(not_named)?;
    let file = cx.under_root(driver_root(cx).join("version.info"));
    let unread = |error| unknown(format!("cannot read `{}`: {}", file.display(), files::reason(&error)));
    let text = files::bytes(&file, LARGEST).map_err(unread)?;
    let found = parse_driver_info(&String::from_utf8_lossy(&text)).version.map(|version| version.to_string());
    let found = found.ok_or_else(|| unknown(format!("`{}` holds no version", file.display())))?;
    if found == expected { Ok(found) } else { Err(other("the driver", found, expected)) }
}

/// A run that cannot be found again cannot be cleaned up after.
fn queue(cx: &Context) -> Result<(), Error> {
    let help: Output = Invocation::new(QUEUE).arg("--help").deadline(HELP).run(cx).map_err(Error::Queue)?;
    let said = format!("{}{}", help.stdout.text(), help.stderr.text());
    match ["--find", "--kill"].into_iter().find(|option| !said.contains(option)) {
        None => Ok(()),
        Some(option) => Err(other("`task-submit`", "an older one, by its `--help`".to_owned(), &format!("`{option}`"))),
    }
}

fn other(what: &'static str, found: String, expected: &str) -> Error {
    Error::OtherHost { what, found, expected: expected.to_owned() }
}
