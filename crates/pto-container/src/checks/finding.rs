//! A check of a host by its name, and what it found.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

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
