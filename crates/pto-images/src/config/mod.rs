//! `docker/images.json`: which images are published, of what, where they are built and how they are validated.
//!
//! [`Config::parse`] finds every mistake at once, each with its place in the document.

pub(crate) mod check;
mod findings;
mod read;

use std::path::{Path, PathBuf};

use pto_context::files;
use serde::{Deserialize, Serialize};

pub use findings::{Finding, Findings, Severity};

use crate::promote::Names;
use crate::registry::{Digest, Platform, Repository};

/// The file's place in the repository.
pub const FILE: &str = "docker/images.json";
/// Far above any list of images.
const LARGEST: u64 = 4 << 20;

/// The whole configuration, in which everything fits together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where it was read from.
    pub file: PathBuf,
    /// Where images are published.
    pub repository: Repository,
    /// Tags that nobody touches.
    pub legacy_tags: Vec<String>,
    /// Whose branch has to be where the recipe is.
    pub recipe: RecipeSource,
    /// What is built.
    pub pypto: Source,
    /// Its models and examples.
    pub pypto_lib: Source,
    /// Whether building needs a proxy.
    pub proxy_required: bool,
    /// The most jobs that compile at once.
    pub build_jobs: u32,
    /// Seconds that one validation may wait and run.
    pub task_timeout_seconds: u32,
    /// Seconds of them that it may use a card.
    pub task_max_seconds: u32,
    /// The images.
    pub images: Vec<Image>,
}

/// The repository and the branch of the recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeSource {
    /// As git takes it.
    pub repository: String,
    /// Its branch that counts.
    pub branch: String,
}

/// A repository and what to take of it.
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
    /// What it is called here.
    pub name: String,
    /// Whether it is built at all.
    pub enabled: bool,
    /// What has to be there before it can be enabled.
    pub needs: Vec<String>,
    /// In Docker's words: `arm64`, `amd64`.
    pub architecture: String,
    /// `a2a3` or `a5`.
    pub validation_platform: String,
    /// The labels of the runner that builds it.
    pub runners: Vec<String>,
    /// The one runner that may, where labels are shared.
    pub runner_name: Option<String>,
    /// The host's driver; not known of some that are not enabled.
    pub driver: Option<String>,
    /// CANN's public version.
    pub cann_version: String,
    /// The base's repository.
    pub cann_repository: String,
    /// The base's tag.
    pub cann_tag: String,
    /// The base's digest; `None` is looked up in every run.
    pub cann_digest: Option<Digest>,
    /// The tag that users pull.
    pub tag: String,
    /// Device nodes that a validation needs beyond those that Ascend Docker Runtime gives.
    pub devices: Vec<String>,
    /// A script of pypto-lib for one card.
    pub single_script: String,
    /// Its further arguments.
    pub single_args: Vec<String>,
    /// A script of pypto-lib for two cards.
    pub distributed_script: String,
    /// Its further arguments.
    pub distributed_args: Vec<String>,
}

impl Config {
    /// Reads and checks a file.
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

    /// The same for its text. With a configuration come findings that are no errors.
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
