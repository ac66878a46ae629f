//! The document that later steps use.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::document::{self, Form};
use crate::error::Error;
use crate::promote::Recipe;
use crate::registry::{Digest, Platform};

/// Everything that is built, by commits and digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    pub(super) schema: String,
    /// When, by RFC 3339.
    pub created: String,
    /// The commit that builds, and the branch at which it has to be when the result is published.
    pub recipe: Recipe,
    /// What is built.
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
    /// What was asked for.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it stood for.
    pub commit: String,
}

/// The assembler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptoas {
    /// `v0.61`.
    pub version: String,
    /// The sum of its release by machine.
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

/// A base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its repository.
    pub repository: String,
    /// The tag it was asked for by.
    pub tag: String,
    /// Its manifest for this platform.
    pub digest: Digest,
    /// Whether the configuration pins it; otherwise it is what the tag led to.
    pub pinned: bool,
}

impl Lock {
    /// An image by its name.
    pub fn image(&self, name: &str) -> Option<&LockedImage> {
        self.images.iter().find(|image| image.name == name)
    }

    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read or is malformed.
    pub fn load(file: &Path) -> Result<Self, Error> {
        document::load(file, Form::Plan)
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), Error> {
        document::save(file, Form::Plan, self)
    }
}
