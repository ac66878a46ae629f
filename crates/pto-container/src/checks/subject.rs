//! What is checked: the host and the image, for a container.

use pto_context::Context;
use pto_docker::Docker;
use pto_platform::Machine;
use pto_platform::docker::{DockerInfo, Image};

use super::finding::{CheckId, Finding};
use crate::access::{DeviceAccess, Mode};
use crate::disk::{self, gigabytes};
use crate::error::Error;
use crate::series::Series;

/// Why an image that is not on this machine needs room.
pub(crate) const TO_FETCH: &str = "for an image that has to be fetched and unpacked, or built";

/// What is checked: the host and the image, for a container with this name and access.
pub(crate) struct Subject<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) docker: &'a Docker,
    pub(crate) info: &'a DockerInfo,
    pub(crate) image: Option<&'a Image>,
    pub(crate) series: Series,
    pub(crate) access: &'a DeviceAccess,
    pub(crate) name: &'a str,
}

impl Subject<'_> {
    /// Runs all checks and returns those that fail. On an engine of another machine, only what the engine itself knows is checked.
    pub(crate) fn examine(&self) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        findings.extend(self.architecture());
        findings.extend(self.other_series());
        if self.docker.is_local() {
            findings.extend(self.disk());
            findings.extend(self.cards());
            findings.extend(self.driver());
            // Without an NPU no driver is used.
            findings.extend((self.access.mode != Mode::None).then(|| self.pair()).flatten());
        }
        findings.extend(self.in_use()?);
        Ok(findings)
    }

    fn architecture(&self) -> Option<Finding> {
        let image = self.image?.architecture.as_deref()?;
        let host = self.info.architecture.as_deref()?;
        other_processor("the image", image, host)
    }

    fn other_series(&self) -> Option<Finding> {
        let (image, asked) = (self.image?.env("PYPTO_PLATFORM")?, self.series.platform());
        (!image.is_empty() && image != asked).then(|| Finding {
            check: CheckId::Series,
            found: format!("the image is for {image} (`PYPTO_PLATFORM`), asked for is {asked}"),
            remedy: format!(
                "name an image for {asked} with `--image`, or build one: `cargo xtask container build {}`",
                self.series
            ),
        })
    }

    /// Room to fetch an image that is not on this machine. One that is needs room too: new volumes are filled with copies of its
    /// directories.
    fn disk(&self) -> Option<Finding> {
        let free = disk::free(self.cx, self.docker, self.info)?;
        let (needed, why) = match self.image {
            Some(image) => (image.size?, "as the image has, of which volumes take copies"),
            None => (disk::NEEDED, TO_FETCH),
        };
        (free < needed).then(|| no_room(free, needed, why, self.info))
    }
}

/// The finding if an image is for another processor than the host's; `what` names the image.
pub(crate) fn other_processor(what: &str, image: &str, host: &str) -> Option<Finding> {
    (processor(image)? != processor(host)?).then(|| Finding {
        check: CheckId::Architecture,
        found: format!("{what} is for `{image}`, this host is `{host}`; it would end with `exec format error`"),
        remedy: "use an image for this processor, or another host".to_owned(),
    })
}

/// The finding for a disk with less room than an image needs; `why` says what needs it.
pub(crate) fn no_room(free: u64, needed: u64, why: &str, info: &DockerInfo) -> Finding {
    let place = info.root_dir.as_deref().unwrap_or("/var/lib/docker");
    Finding {
        check: CheckId::Disk,
        found: format!("{} are free in `{place}`, expected {} {why}", gigabytes(free), gigabytes(needed)),
        remedy: "`docker system df` says what takes the room; remove images that nobody needs".to_owned(),
    }
}

/// A processor by Docker's name (`arm64`) or the kernel's (`aarch64`).
pub(super) fn processor(name: &str) -> Option<Machine> {
    name.parse().ok()
}
