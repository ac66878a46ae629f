//! The host's driver, and whether it was tested with the image's CANN.

use pto_context::Event;
use pto_context::files::{self, Reading};
use pto_context::places::driver_root;
use pto_platform::docker::Image;
use pto_platform::files::parse_driver_info;
use pto_platform::{Machine, PairVerdict, SupportedPair, Version, supported_pair};

use super::finding::{CheckId, Finding};
use super::subject::{Subject, processor};
use crate::access::Mode;

/// The CANN of the images with legacy tags.
const LEGACY_CANN: &str = "9.0.0";

impl Subject<'_> {
    /// The driver that a privileged container gets from this host, since its image has none.
    pub(super) fn driver(&self) -> Option<Finding> {
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
    pub(super) fn pair(&self) -> Option<Finding> {
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
