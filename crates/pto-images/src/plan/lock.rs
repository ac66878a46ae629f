//! The plan as a document, which later steps read.

use std::collections::BTreeMap;
use std::path::Path;

use pto_context::Context;
use serde::{Deserialize, Serialize};

use super::snapshot;
use crate::config::{Config, Image};
use crate::document::{self, Form};
use crate::error::Error;
use crate::promote::Recipe;
use crate::registry::{Digest, Platform};

/// A plan: everything that is built, by commits and digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    pub(super) schema: String,
    /// When it was made, by RFC 3339.
    pub created: String,
    /// The commit that images are built with. It has to be the head of its branch when they are published.
    pub recipe: Recipe,
    /// PyPTO.
    pub pypto: LockedSource,
    /// Its models and examples.
    pub pypto_lib: LockedSource,
    /// PyPTO's runtime, by PyPTO's submodule.
    pub runtime: LockedSource,
    /// The commit of PTO-ISA that the runtime pins.
    pub pto_isa: String,
    /// The assembler that PyPTO pins.
    pub ptoas: Ptoas,
    /// The images.
    pub images: Vec<LockedImage>,
}

/// A repository at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedSource {
    /// As git takes it.
    pub repository: String,
    /// The branch, tag or commit that was asked for.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The commit it stood for.
    pub commit: String,
}

/// The assembler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptoas {
    /// Its release, such as `v0.61`.
    pub version: String,
    /// The checksum of the release's wheel for each machine.
    pub sha256: BTreeMap<String, String>,
}

/// An image, and what it is built on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedImage {
    /// Its name in the configuration.
    pub name: String,
    /// What it runs on.
    pub platform: Platform,
    /// `a2a3` or `a5`.
    pub validation_platform: String,
    /// The tag that users pull.
    pub tag: String,
    /// What it is built on.
    pub base: Base,
    /// The arguments of its Dockerfile. No proxy is among them: Docker takes that from the environment.
    pub build_args: BTreeMap<String, String>,
}

/// The image that an image is built on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its repository.
    pub repository: String,
    /// Its tag in the configuration.
    pub tag: String,
    /// The digest of its manifest for this platform.
    pub digest: Digest,
    /// Whether the configuration pins the digest; otherwise it is where the tag led.
    pub pinned: bool,
}

impl Lock {
    /// What of the plan is not as the configuration has it now, for an image that both have: what was found, and what was
    /// expected. PyPTO may come from a fork, so its repository is what the plan says.
    pub(crate) fn differs(&self, config: &Config, image: &Image) -> Option<String> {
        let locked = self.image(&image.name)?;
        let (platform, expected) = (locked.platform.to_string(), image.platform().to_string());
        let digest = image.cann_digest.as_ref().unwrap_or(&locked.base.digest);
        let facts = [
            ("recipe's repository", self.recipe.repository.as_str(), config.recipe.repository.as_str()),
            ("recipe's branch", &self.recipe.branch, &config.recipe.branch),
            ("ref of pypto", &self.pypto.reference, &config.pypto.reference),
            ("repository of pypto_lib", &self.pypto_lib.repository, &config.pypto_lib.repository),
            ("ref of pypto_lib", &self.pypto_lib.reference, &config.pypto_lib.reference),
            ("platform", &platform, &expected),
            ("validation_platform", &locked.validation_platform, &image.validation_platform),
            ("tag", &locked.tag, &image.tag),
            ("cann_repository", &locked.base.repository, &image.cann_repository),
            ("cann_tag", &locked.base.tag, &image.cann_tag),
            ("cann_digest", locked.base.digest.as_str(), digest.as_str()),
        ];
        let other = facts.into_iter().find(|(_, found, expected)| found != expected);
        let other = other.map(|(what, found, expected)| (what.to_owned(), found.to_owned(), expected.to_owned()));
        let other = other.or_else(|| self.other_argument(config, image, locked));
        other.map(|(what, found, expected)| format!("its {what} is `{found}`, the configuration has `{expected}`"))
    }

    /// The first build argument that does not follow from the plan and the configuration.
    fn other_argument(&self, config: &Config, image: &Image, locked: &LockedImage) -> Option<(String, String, String)> {
        let expected = super::locked(config, image, locked.base.clone(), [&self.pypto, &self.pypto_lib]).build_args;
        let names = expected.keys().chain(locked.build_args.keys());
        let value = |args: &BTreeMap<String, String>, name: &String| args.get(name).cloned().unwrap_or_default();
        let pairs = names.map(|name| (name, value(&locked.build_args, name), value(&expected, name)));
        let other = pairs.into_iter().find(|(_, found, expected)| found != expected);
        other.map(|(name, found, expected)| (format!("build argument {name}"), found, expected))
    }

    /// An image by its name.
    pub fn image(&self, name: &str) -> Option<&LockedImage> {
        self.images.iter().find(|image| image.name == name)
    }

    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read or is malformed.
    pub fn load(file: &Path) -> Result<Self, Error> {
        let lock: Self = document::load(file, Form::Plan)?;
        let twice = |name: &String| lock.images.iter().filter(|image| image.name == *name).count() > 1;
        match lock.images.iter().map(|image| &image.name).find(|name| twice(name)) {
            Some(name) => {
                let problem = format!("the image `{name}` is there twice");
                Err(Error::Document { file: file.to_owned(), form: Form::Plan, problem })
            }
            None => Ok(lock),
        }
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), Error> {
        document::save(file, Form::Plan, self)
    }

    /// Checks that a checkout is at the commit of the recipe and has not changed it.
    ///
    /// # Errors
    /// [`Error::OtherRecipe`], [`Error::ChangedRecipe`]; it is not a repository.
    pub fn require_recipe(&self, cx: &Context, checkout: &Path) -> Result<(), Error> {
        let (found, expected) = (snapshot::head(cx, checkout)?, self.recipe.commit.clone());
        if found == expected {
            return snapshot::require_clean(cx, checkout);
        }
        Err(Error::OtherRecipe { dir: checkout.to_owned(), found, expected })
    }
}
