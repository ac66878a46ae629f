//! Whether this host can validate an image: checked before a build that takes hours.

use std::time::Duration;

use pto_context::places::driver_root;
use pto_context::{Context, files};
use pto_docker::Docker;
use pto_platform::files::parse_driver_info;
use pto_process::{Invocation, Output};

use super::cases::{QUEUE, VERSION};
use crate::config::Image;
use crate::error::Error;

/// The workflow's name for the runner on this host.
const RUNNER_VARIABLE: &str = "RUNNER_NAME";
/// How long the queue's client may take to print its help.
const HELP: Duration = Duration::from_secs(60);
/// Far above any file with a driver's version.
const LARGEST: u64 = 1 << 20;

/// Checks everything that a validation needs of its host, and returns the driver's version. Reserves no card.
///
/// # Errors
/// The host is not the one that the configuration names, or lacks something.
pub fn preflight(cx: &Context, image: &Image) -> Result<String, Error> {
    let driver = host(cx, image)?;
    require_queue(cx)?;
    let info = Docker::new(cx)?.info()?;
    if !info.has_ascend_runtime() {
        return Err(other_host("the list of Docker's runtimes", info.runtimes.join(", "), "ascend"));
    }
    let missing: Vec<_> = image.devices.iter().filter(|device| !files::exists(cx, device)).cloned().collect();
    if !missing.is_empty() {
        return Err(other_host(
            "the device list",
            format!("none of {}", missing.join(", ")),
            &image.devices.join(", "),
        ));
    }
    Ok(driver)
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
    match ["--find", "--kill"].into_iter().find(|option| !said.contains(option)) {
        None => Ok(()),
        Some(option) => {
            Err(other_host("`task-submit`", "an older one, by its `--help`".to_owned(), &format!("`{option}`")))
        }
    }
}

fn other_host(what: &'static str, found: String, expected: &str) -> Error {
    Error::OtherHost { what, found, expected: expected.to_owned() }
}
