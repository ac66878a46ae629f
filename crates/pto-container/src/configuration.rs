//! The configuration of a container, recorded in its labels and compared before anybody enters it.

use std::collections::BTreeMap;

use pto_platform::docker::Container;
use serde::Serialize;

use crate::access::DeviceAccess;
use crate::mount::Mount;
use crate::series::Series;
use crate::settings::Settings;
use crate::sources::Sources;

/// What our labels begin with.
const PREFIX: &str = "ptokit.container.";
/// The name of the image.
const IMAGE: &str = "image";
/// The id of the image that the container was created from: the image's name may stand for another one by now.
const IMAGE_ID: &str = "image-id";
/// How it gets at the NPUs.
const ACCESS: &str = "access";
const CARDS: &str = "cards";

/// What a container is created with, as named values. Proxies are not part of it: they are secrets, and may change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Configuration(BTreeMap<String, String>);

/// A value that differs from the one that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name: `image`, `pypto`, `cache`, `cards`, ...
    pub what: String,
    /// The container's value; `None` if it has none, or if an older version of this program did not record it.
    pub recorded: Option<String>,
    /// The value that is asked for.
    pub asked: Option<String>,
}

impl Configuration {
    pub(crate) fn new(
        series: Series,
        settings: &Settings,
        image_id: Option<&str>,
        sources: &Sources,
        access: &DeviceAccess,
    ) -> Self {
        let list = |mounts: &[Mount]| mounts.iter().map(Mount::text).collect::<Vec<_>>().join("; ");
        let trusted: Vec<String> = sources.trusted.iter().map(|path| path.display().to_string()).collect();
        let mut all: BTreeMap<String, String> = [
            (IMAGE, settings.image.clone()),
            ("series", series.to_string()),
            ("pypto", sources.pypto.display().to_string()),
            ("pypto-lib", sources.pypto_lib.display().to_string()),
            ("sources", list(&sources.mounts)),
            ("checkouts", trusted.join("; ")),
            ("cache", settings.cache_volume.clone()),
            ("shm-size", settings.shm_size.clone()),
            (ACCESS, access.mode.to_string()),
            (CARDS, access.card_list()),
            ("devices", access.devices.join("; ")),
            ("driver", list(&access.mounts)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        all.extend(image_id.map(|id| (IMAGE_ID.to_owned(), id.to_owned())));
        Self(all)
    }

    /// The configuration that a container recorded; `None` if it has none.
    pub fn of(container: &Container) -> Option<Self> {
        let ours = container.labels.iter().filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value)));
        let all: BTreeMap<_, _> = ours.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        (!all.is_empty()).then_some(Self(all))
    }

    /// The recorded way to the NPUs.
    pub fn access(&self) -> Option<&str> {
        self.0.get(ACCESS).map(String::as_str)
    }

    /// The recorded physical cards: `2,3`.
    pub fn cards(&self) -> Option<&str> {
        self.0.get(CARDS).map(String::as_str)
    }

    /// The labels that record it.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| format!("{PREFIX}{name}={value}"))
    }

    /// The values that differ, in the order of their names. Labels that are not ours may come from the image. The image's id is
    /// compared only if it is known and the image's name is the same: an image of another name differs anyway.
    pub fn differences(&self, asked: &Self) -> Vec<Difference> {
        let has_id = asked.0.contains_key(IMAGE_ID) && self.0.get(IMAGE) == asked.0.get(IMAGE);
        let comparable = |name: &&String| *name != IMAGE_ID || has_id;
        let names = asked.0.keys().filter(comparable).filter(|name| self.0.get(*name) != asked.0.get(*name));
        let of = |all: &BTreeMap<String, String>, name: &str| all.get(name).filter(|value| !value.is_empty()).cloned();
        names
            .map(|name| Difference { what: name.clone(), recorded: of(&self.0, name), asked: of(&asked.0, name) })
            .collect()
    }
}

impl Difference {
    /// One line for people.
    pub fn text(&self) -> String {
        // A label may be anybody's and hold anything.
        let shown = |value: &String| value.replace(char::is_control, "\u{fffd}");
        let value =
            |value: &Option<String>| value.as_ref().map_or("nothing".to_owned(), |value| format!("`{}`", shown(value)));
        let rebuilt = if self.what == IMAGE_ID { " (its tag stands for another image now)" } else { "" };
        format!(
            "{}: the container has {}, asked for is {}{rebuilt}",
            self.what,
            value(&self.recorded),
            value(&self.asked)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(pairs: &[(&str, &str)]) -> Configuration {
        Configuration(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn differences_name_both_sides() {
        let recorded = configuration(&[("image", "a"), ("cache", "c"), ("devices", "")]);
        let asked = configuration(&[("image", "b"), ("cache", "c"), ("devices", "/dev/ummu"), ("new", "x")]);
        let texts: Vec<_> = recorded.differences(&asked).iter().map(Difference::text).collect();
        assert_eq!(
            texts,
            [
                "devices: the container has nothing, asked for is `/dev/ummu`",
                "image: the container has `a`, asked for is `b`",
                "new: the container has nothing, asked for is `x`",
            ]
        );
        assert_eq!(recorded.differences(&recorded), []);
        // A label of the image with the same beginning.
        assert_eq!(configuration(&[("image", "a"), ("foo", "x")]).differences(&configuration(&[("image", "a")])), []);
    }

    #[test]
    fn a_label_cannot_write_on_the_terminal() {
        let recorded = configuration(&[("image", "\u{1b}[2Ja")]);
        let text = recorded.differences(&configuration(&[("image", "b")]))[0].text();
        assert!(!text.contains('\u{1b}') && text.contains("[2Ja"), "{text}");
    }

    #[test]
    fn a_rebuilt_tag_is_another_image_and_an_absent_one_is_unknown() {
        let recorded = configuration(&[("image", "a"), (IMAGE_ID, "sha256:1")]);
        let rebuilt = recorded.differences(&configuration(&[("image", "a"), (IMAGE_ID, "sha256:2")]));
        assert!(rebuilt.len() == 1 && rebuilt[0].text().contains("stands for another image now"));
        assert_eq!(recorded.differences(&configuration(&[("image", "a")])), []);
        let other = recorded.differences(&configuration(&[("image", "b"), (IMAGE_ID, "sha256:2")]));
        let texts: Vec<_> = other.iter().map(Difference::text).collect();
        assert_eq!(texts, ["image: the container has `a`, asked for is `b`"], "no tag was moved");
    }
}
