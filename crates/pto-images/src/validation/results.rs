//! The results of a validation: without them nothing is published.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::Image;
use crate::document::{self, Form};
use crate::error::Error;
use crate::registry::Digest;

/// One image, and how its cases went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    schema: String,
    /// The image's name in the configuration.
    pub image: String,
    /// The id of the image that ran.
    pub id: Digest,
    /// The commit of the recipe that it was built with.
    pub recipe: String,
    /// The version of the host's driver.
    pub driver: String,
    /// What of the configuration the cases ran with.
    pub settings: Settings,
    /// The cases, in the order in which they ran.
    pub cases: Vec<CaseResult>,
}

/// What of the configuration decides what the cases of a validation do: another script may pass where this one does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The script for one card, and its arguments.
    pub single: Vec<String>,
    /// The script for two cards, and its arguments.
    pub distributed: Vec<String>,
    /// Device nodes beside those of the cards.
    pub devices: Vec<String>,
}

impl Settings {
    /// Those of an image.
    pub fn of(image: &Image) -> Self {
        let words = |script: &String, args: &[String]| [std::slice::from_ref(script), args].concat();
        Self {
            single: words(&image.single_script, &image.single_args),
            distributed: words(&image.distributed_script, &image.distributed_args),
            devices: image.devices.clone(),
        }
    }

    /// What is other than in these, if anything: what was found and what was expected.
    fn differs(&self, expected: &Self) -> Option<String> {
        let facts = [
            ("script for one card", &self.single, &expected.single),
            ("script for two cards", &self.distributed, &expected.distributed),
            ("list of devices", &self.devices, &expected.devices),
        ];
        let other = facts.into_iter().find(|(_, found, expected)| found != expected);
        other.map(|(what, found, expected)| {
            format!("their {what} is `{}`, the configuration has `{}`", found.join(" "), expected.join(" "))
        })
    }
}

/// How one case went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseResult {
    /// `doctor`, `single`, `distributed`.
    pub name: String,
    /// Whether it passed.
    pub status: CaseStatus,
    /// Why it did not pass.
    pub problem: Option<String>,
    /// The file with its output, beside the results.
    pub log: Option<String>,
    /// How long its reservation took, in seconds.
    pub seconds: u64,
}

/// Whether a case passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseStatus {
    /// It ended with 0 and, if it has to, printed that it passed.
    Passed,
    /// It did not.
    Failed,
    /// It was not run, because a case before it failed.
    NotRun,
}

impl Results {
    /// The names of the cases that have to pass.
    pub const CASES: [&'static str; 3] = ["doctor", "single", "distributed"];

    /// Those of an image, without any case yet.
    pub fn new(image: &Image, id: Digest, recipe: &str, driver: &str) -> Self {
        Self {
            schema: Form::Results.schema().to_owned(),
            image: image.name.clone(),
            id,
            recipe: recipe.to_owned(),
            driver: driver.to_owned(),
            settings: Settings::of(image),
            cases: Vec::new(),
        }
    }

    /// Whether every case is there once and passed, and no other case is there.
    pub fn passed(&self) -> bool {
        let passed = |name: &&str| {
            let mut cases = self.cases.iter().filter(|case| case.name == *name);
            cases.next().is_some_and(|case| case.status == CaseStatus::Passed) && cases.next().is_none()
        };
        Self::CASES.iter().all(passed) && self.cases.len() == Self::CASES.len()
    }

    /// Checks that this image passed, with the driver that the configuration names.
    ///
    /// # Errors
    /// [`Error::NotPassed`].
    pub fn require_passed(&self, image: &Image) -> Result<(), Error> {
        let failed = self.cases.iter().find(|case| case.status != CaseStatus::Passed);
        let other_settings = self.settings.differs(&Settings::of(image));
        let problem = match (failed, &image.driver) {
            (Some(case), _) => format!("`{}` did not pass", case.name),
            _ if !self.passed() => format!("not all of {} are there", Self::CASES.join(", ")),
            _ if self.image != image.name => format!("they are those of `{}`", self.image),
            _ if other_settings.is_some() => other_settings.unwrap_or_default(),
            (None, Some(driver)) if *driver == self.driver => return Ok(()),
            (None, Some(driver)) => format!("they are of driver {}, the configuration has {driver}", self.driver),
            (None, None) => "the configuration does not name the driver".to_owned(),
        };
        Err(Error::NotPassed { image: image.name.clone(), problem })
    }

    /// Reads them.
    ///
    /// # Errors
    /// They cannot be read or are malformed.
    pub fn load(file: &Path) -> Result<Self, Error> {
        document::load(file, Form::Results)
    }

    /// Writes them, whole or not at all.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), Error> {
        document::save(file, Form::Results, self)
    }
}
