//! The checks of a host before a container is created or started on it.

use std::fmt;
use std::str::FromStr;

use pto_context::files::{self, Reading};
use pto_context::places::driver_root;
use pto_context::{Context, Event};
use pto_docker::Docker;
use pto_platform::docker::{Container, DockerInfo, Image};
use pto_platform::files::parse_driver_info;
use pto_platform::{Machine, PairVerdict, SupportedPair, Version, supported_pair};
use serde::Serialize;

use crate::access::{DeviceAccess, Mode};
use crate::configuration::Configuration;
use crate::disk::{self, gigabytes};
use crate::error::Error;
use crate::series::Series;

/// A check by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckId {
    /// The image is for the host's processor.
    Architecture,
    /// The image is for the series that is asked for.
    Series,
    /// The engine has room for an image.
    Disk,
    /// The host has the cards.
    Card,
    /// No other running container has them.
    CardInUse,
    /// The host's driver was tested with the image's CANN.
    DriverPair,
}

impl CheckId {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Architecture, Self::Series, Self::Disk, Self::Card, Self::CardInUse, Self::DriverPair];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Series => "series",
            Self::Disk => "disk",
            Self::Card => "card",
            Self::CardInUse => "card-in-use",
            Self::DriverPair => "driver-pair",
        }
    }

    /// Whether users may skip it. Two checks are final: no image runs on another processor, and a card that two containers have
    /// fails in both.
    pub const fn may_be_skipped(self) -> bool {
        !matches!(self, Self::Architecture | Self::CardInUse)
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CheckId {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().filter(|id| id.may_be_skipped()).find(|id| id.name() == given);
        found.ok_or_else(|| {
            "expected `series`, `disk`, `card` or `driver-pair`; the others cannot be skipped".to_owned()
        })
    }
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check.
    pub check: CheckId,
    /// What was found and what was expected.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

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

    fn cards(&self) -> Option<Finding> {
        let missing = |card: &&u32| !files::exists(self.cx, format!("/dev/davinci{card}"));
        let missing: Vec<String> =
            self.access.cards.iter().filter(missing).map(|card| format!("/dev/davinci{card}")).collect();
        let there: Vec<String> = files::names(self.cx, "/dev").into_iter().filter(|name| is_card(name)).collect();
        (!missing.is_empty()).then(|| Finding {
            check: CheckId::Card,
            found: match there.is_empty() {
                true => "this host has no NPU: there is no `/dev/davinci*`".to_owned(),
                false => format!("there is no `{}`; this host has {}", missing.join("`, `"), there.join(", ")),
            },
            remedy: "`npu-smi info` lists the cards; a container without NPUs: `--device-access none` and no card"
                .to_owned(),
        })
    }

    /// The driver that a privileged container gets from this host, since its image has none.
    fn driver(&self) -> Option<Finding> {
        let root = driver_root(self.cx);
        (self.access.mode == Mode::Privileged && !files::is_dir(self.cx, &root)).then(|| Finding {
            check: CheckId::Card,
            found: format!(
                "there is no driver in `{}`, which a privileged container needs from this host",
                root.display()
            ),
            remedy: "install the NPU driver, or name its directory: `export ASCEND_DRIVER_ROOT=DIR`".to_owned(),
        })
    }

    /// Warns if the versions cannot be compared, because nothing else would show it: a pair that does not fit works until the AICPU
    /// is used.
    fn pair(&self) -> Option<Finding> {
        let (cann, driver, machine) = match self.versions(self.image?) {
            Ok(versions) => versions,
            Err(why) => {
                let message =
                    format!("whether the host's driver goes with the image's CANN was not checked, because {why}");
                self.cx.emit(Event::Warning { message });
                return None;
            }
        };
        let verdict = supported_pair(&cann, &driver, machine);
        let target = self.series.target();
        let tested: Vec<String> = match &verdict {
            PairVerdict::Supported(pair) if pair.target.is_none_or(|tested| tested == target) => return None,
            PairVerdict::Supported(pair) => vec![tested(pair)],
            other => other.instead().iter().map(|pair| tested(pair)).collect(),
        };
        let instead = if tested.is_empty() { String::new() } else { format!("; tested: {}", tested.join(", ")) };
        Some(Finding {
            check: CheckId::DriverPair,
            found: format!(
                "the host's driver {driver} was not tested with the image's CANN {cann} for {target} on {machine}{instead}"
            ),
            remedy:
                "install the driver and firmware that belong to it; with another pair everything works until the AICPU \
                     is used, and then fails with 507018"
                    .to_owned(),
        })
    }

    /// CANN, driver and processor, or which of them is not known and why.
    fn versions(&self, image: &Image) -> Result<(Version, Version, Machine), String> {
        let cann = cann_of(image).ok_or("the image does not say its CANN (`PYPTO_CANN_TAG`)")?;
        let file = driver_root(self.cx).join("version.info");
        let Reading::Text(text) = files::read(self.cx, &file) else {
            return Err(format!("`{}` cannot be read", file.display()));
        };
        let driver = parse_driver_info(&text).version;
        let driver = driver.ok_or_else(|| format!("`{}` holds no version", file.display()))?;
        let machine = self.info.architecture.as_deref().and_then(processor);
        Ok((cann, driver, machine.ok_or("the engine does not say its processor")?))
    }

    fn in_use(&self) -> Result<Option<Finding>, Error> {
        in_use(self.docker, self.name, &self.access.cards, |name, cards| {
            if self.series == Series::A3 {
                self.warn_of_pairs(name, cards);
            }
        })
    }

    /// Cards 2n and 2n + 1 of A3 are the two dies of one chip, which share one place for the AICPU's program.
    fn warn_of_pairs(&self, name: &str, cards: &[u32]) {
        for card in self.access.cards.iter().filter(|&&card| cards.contains(&(card ^ 1))) {
            let message = format!(
                "container `{name}` has card {}, which on A3 is the other die of card {card}'s chip: bringing both up at once has \
                 failed before; give whole chips where you can",
                card ^ 1
            );
            self.cx.emit(Event::Warning { message });
        }
    }
}

/// The CANN of the images with legacy tags.
const LEGACY_CANN: &str = "9.0.0";
/// Why an image that is not on this machine needs room.
pub(crate) const TO_FETCH: &str = "for an image that has to be fetched and unpacked, or built";

/// The finding if another running container has one of the cards. `other` gets each running container that has none of them, with
/// its own cards.
pub(crate) fn in_use(
    docker: &Docker,
    name: &str,
    cards: &[u32],
    mut other: impl FnMut(&str, &[u32]),
) -> Result<Option<Finding>, Error> {
    let running = docker.running_containers()?;
    let mut taken = Vec::new();
    for container in running.iter().filter(|container| container.name.as_deref() != Some(name)) {
        let (name, has) = (container.name.as_deref().unwrap_or("?"), cards_of(container));
        let both: Vec<String> = cards.iter().filter(|card| has.contains(card)).map(u32::to_string).collect();
        if both.is_empty() {
            other(name, &has);
        } else {
            taken.push(format!("`{name}` has card {}", both.join(", ")));
        }
    }
    Ok((!taken.is_empty()).then(|| Finding {
        check: CheckId::CardInUse,
        found: format!("the running container {}", taken.join(", ")),
        remedy: "stop it (`docker stop NAME`), or choose another card: with two containers on one card, both fail"
            .to_owned(),
    }))
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

/// The cards of a container. The ones that it recorded count first, since a privileged container sees all cards.
pub(crate) fn cards_of(container: &Container) -> Vec<u32> {
    let recorded = Configuration::of(container).and_then(|it| it.cards().map(str::to_owned));
    match recorded {
        Some(cards) => cards.split(',').filter_map(|card| card.parse().ok()).collect(),
        None => container.npus(),
    }
}

/// A pair that was tested, with where.
fn tested(pair: &SupportedPair) -> String {
    let on = pair.machine.map(|machine| format!(" on {machine}")).unwrap_or_default();
    let with = pair.target.map(|target| format!(" for {target}")).unwrap_or_default();
    format!("driver {} with CANN {}{with}{on}", pair.driver, pair.cann)
}

/// The CANN release of an image, by the tag of its base: `9.2.0-950-ubuntu22.04-py3.11-devel`. Older published images do not name
/// their base and are recognized by their own tags.
fn cann_of(image: &Image) -> Option<Version> {
    let is_legacy = |name: &String| name.rsplit_once(':').is_some_and(|(_, tag)| is_legacy_tag(tag));
    match image.env("PYPTO_CANN_TAG") {
        Some(tag) => Version::parse(tag.split('-').next()?),
        None if image.tags.iter().any(is_legacy) => Version::parse(LEGACY_CANN),
        None => None,
    }
}

/// Whether it is `a3-dist`, or that with a date.
fn is_legacy_tag(tag: &str) -> bool {
    tag.strip_prefix("a3-dist").is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn is_card(name: &str) -> bool {
    name.strip_prefix("davinci").is_some_and(|index| !index.is_empty() && index.chars().all(|c| c.is_ascii_digit()))
}

/// A processor by Docker's name (`arm64`) or the kernel's (`aarch64`).
fn processor(name: &str) -> Option<Machine> {
    name.parse().ok()
}
