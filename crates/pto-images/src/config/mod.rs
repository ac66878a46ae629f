//! `docker/images.json`: which images are published, what they are built from and where, and how they are validated.
//!
//! [`Config::parse`] finds all mistakes at once, each with its place in the document.

pub(crate) mod check;
mod findings;
mod read;

use std::path::{Path, PathBuf};

use pto_context::files;
use serde::{Deserialize, Serialize};

pub use findings::{Finding, Findings, Severity};

use crate::promote::Names;
use crate::registry::{Digest, Platform, Repository};

/// The file's path in the repository.
pub const FILE: &str = "docker/images.json";
/// Far larger than any list of images.
const LARGEST: u64 = 4 << 20;

/// A whole configuration without mistakes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where it was read from.
    pub file: PathBuf,
    /// Where images are published.
    pub repository: Repository,
    /// Tags that are never touched.
    pub legacy_tags: Vec<String>,
    /// The branch whose head is the newest recipe.
    pub recipe: RecipeSource,
    /// PyPTO.
    pub pypto: Source,
    /// Its models and examples.
    pub pypto_lib: Source,
    /// Whether building needs a proxy.
    pub proxy_required: bool,
    /// How many jobs may compile at once.
    pub build_jobs: u32,
    /// How long a task of a validation may wait and run, in seconds.
    pub task_timeout_seconds: u32,
    /// How long it may run, in seconds.
    pub task_max_seconds: u32,
    /// The images.
    pub images: Vec<Image>,
}

/// The repository and the branch of the recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeSource {
    /// As git takes it.
    pub repository: String,
    /// The branch.
    pub branch: String,
}

/// A repository, and what to take from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// As git takes it.
    pub repository: String,
    /// A branch, a tag or a commit.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// One image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Its name in the configuration.
    pub name: String,
    /// Whether it is built.
    pub enabled: bool,
    /// What is still missing before it can be enabled.
    pub needs: Vec<String>,
    /// In Docker's words: `arm64`, `amd64`.
    pub architecture: String,
    /// `a2a3` or `a5`.
    pub validation_platform: String,
    /// The labels of the runner that builds it.
    pub runners: Vec<String>,
    /// The only runner that may build it, if several have the labels.
    pub runner_name: Option<String>,
    /// The version of the host's driver; may be unknown for an image that is not enabled.
    pub driver: Option<String>,
    /// CANN's public version.
    pub cann_version: String,
    /// The base's repository.
    pub cann_repository: String,
    /// The base's tag.
    pub cann_tag: String,
    /// The base's digest; `None` to look it up in every run.
    pub cann_digest: Option<Digest>,
    /// The tag that users pull.
    pub tag: String,
    /// Device nodes that a validation needs besides those that Ascend Docker Runtime gives to containers.
    pub devices: Vec<String>,
    /// The script of pypto-lib that validates it on one card.
    pub single_script: String,
    /// Its further arguments.
    pub single_args: Vec<String>,
    /// The script of pypto-lib that validates it on two cards.
    pub distributed_script: String,
    /// Its further arguments.
    pub distributed_args: Vec<String>,
}

impl Config {
    /// Reads and checks a file. The findings beside a configuration are notes.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(file: &Path) -> Result<(Self, Findings), Findings> {
        let text = files::bytes(file, LARGEST)
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8")));
        match text {
            Ok(text) => Self::parse(file, &text),
            Err(error) => Err(Findings::of(file, format!("cannot read it: {}", files::reason(&error)))),
        }
    }

    /// The same for the text of a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &Path, text: &str) -> Result<(Self, Findings), Findings> {
        let mut findings = Findings::new(file);
        let draft = read::draft(text, &mut findings);
        if let Some(draft) = &draft {
            check::draft(draft, &mut findings);
        }
        match draft.and_then(|draft| draft.whole(file)) {
            Some(config) if !findings.has_errors() => Ok((config, findings)),
            _ => Err(findings),
        }
    }

    /// An image by its name.
    pub fn image(&self, name: &str) -> Option<&Image> {
        self.images.iter().find(|image| image.name == name)
    }
}

impl Image {
    /// Its tags.
    pub fn names(&self) -> Names {
        Names::new(&self.tag)
    }

    /// What it runs on.
    pub fn platform(&self) -> Platform {
        Platform { os: "linux".to_owned(), architecture: self.architecture.clone() }
    }

    /// The base as Docker takes it, by its tag.
    pub fn base(&self) -> String {
        format!("{}:{}", self.cann_repository, self.cann_tag)
    }
}
