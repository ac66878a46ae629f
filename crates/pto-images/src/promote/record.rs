//! The record of a promotion or rollback, saved before each step: enough to finish it, to take it back, and to repair it by hand.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::names::Names;
use crate::document::Form;
use crate::registry::{Digest, Repository};

/// A promotion or rollback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    schema: String,
    /// Which of the two.
    pub kind: Kind,
    /// The image's name in the configuration.
    pub image: String,
    /// Where it is published.
    pub repository: Repository,
    /// The tag that users pull.
    pub tag: String,
    /// The tag under which it was uploaded.
    pub temporary: Option<String>,
    /// Tags of earlier uploads that were not finished. They are removed together with this one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// What the image was built from; a rollback has none.
    pub recipe: Option<Recipe>,
    /// The id of the tested image; a rollback has none.
    pub tested: Option<Digest>,
    /// Where `current` is to lead; not known before the upload was compared.
    pub candidate: Option<Candidate>,
    /// Where the tags led before the first of them was moved.
    pub before: Option<TagDigests>,
    /// The media types of the manifests that are kept.
    #[serde(default)]
    pub media_types: BTreeMap<Digest, String>,
    /// The steps that were begun, in order.
    pub steps: Vec<Entry>,
}

/// What is done with the tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A new image becomes current.
    Promotion,
    /// The version before becomes current again.
    Rollback,
}

/// The commit that an image was built with, and the branch that it is published for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The repository with the recipe, as git takes it.
    pub repository: String,
    /// The branch: it has to be at the commit when the image is published.
    pub branch: String,
    /// The commit.
    pub commit: String,
}

/// The image that is to become current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The digest of its manifest.
    pub manifest: Digest,
    /// The digest of its configuration; a list of images has none.
    pub config: Option<Digest>,
}

/// Where the tags of an image lead, or led; `None` for a tag that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagDigests {
    /// The tag that users pull.
    pub current: Option<Digest>,
    /// The version before.
    pub previous: Option<Digest>,
}

/// A step that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The step.
    pub step: Step,
    /// When it was begun, by RFC 3339.
    pub at: String,
}

/// The steps. Each is recorded before it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The tested image is uploaded to its temporary tag.
    Upload,
    /// The upload was compared with the tested image, and is the same.
    Compared,
    /// `previous` is moved.
    MovePrevious,
    /// `current` is moved.
    MoveCurrent,
    /// Taking back is begun. From here on it is not finished in any other way.
    TakeBack,
    /// `previous` is moved back.
    RestorePrevious,
    /// `current` and `previous` lead where they were to lead, and are not moved again.
    Promoted,
    /// `current` and `previous` lead where they led before, and are not moved again.
    TakenBack,
    /// The temporary tag is deleted.
    RemoveTemporary,
    /// It was promoted or rolled back, and nothing is left to do.
    Done,
    /// It was taken back, and nothing is left to do.
    Undone,
}

impl Record {
    pub(crate) fn new(kind: Kind, image: &str, repository: &Repository, names: &Names) -> Self {
        Self {
            schema: Form::Record.schema().to_owned(),
            kind,
            image: image.to_owned(),
            repository: repository.clone(),
            tag: names.current().to_owned(),
            temporary: None,
            earlier: Vec::new(),
            recipe: None,
            tested: None,
            candidate: None,
            before: None,
            media_types: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    /// The image's tags.
    pub fn names(&self) -> Names {
        Names::new(&self.tag)
    }

    /// The tags of its uploads, the last one first.
    pub fn uploads(&self) -> impl Iterator<Item = &String> {
        self.temporary.iter().chain(&self.earlier)
    }

    /// How it ended for current and previous; `None` as long as they may still be moved. Tags of uploads may be left even so: not
    /// every registry deletes tags by name, and that must not block the next publication.
    pub fn outcome(&self) -> Option<Outcome> {
        self.steps.iter().find_map(|entry| match entry.step {
            Step::Promoted | Step::Done => Some(Outcome::Promoted),
            Step::TakenBack | Step::Undone => Some(Outcome::TakenBack),
            _ => None,
        })
    }

    /// Whether taking back was begun and is not finished.
    pub fn is_being_taken_back(&self) -> bool {
        self.outcome().is_none() && self.steps.iter().any(|entry| entry.step == Step::TakeBack)
    }

    /// Whether nothing is left to do, be it promoted or taken back.
    pub fn is_over(&self) -> bool {
        self.steps.last().is_some_and(|entry| matches!(entry.step, Step::Done | Step::Undone))
    }
}

/// How a promotion or rollback ended for current and previous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The candidate is current.
    Promoted,
    /// They lead where they led before.
    TakenBack,
}

impl TagDigests {
    /// Whether `previous` is moved, from these tags on. A rollback leaves it alone. So does a promotion of the first image, or of the
    /// one that is current already.
    pub(crate) fn moves_previous(&self, kind: Kind, candidate: &Digest) -> bool {
        kind == Kind::Promotion && self.current.as_ref().is_some_and(|current| current != candidate)
    }

    /// Where the tags lead in the end, from these on.
    pub(crate) fn end(&self, kind: Kind, candidate: &Digest) -> Self {
        let previous = if self.moves_previous(kind, candidate) { &self.current } else { &self.previous };
        Self { current: Some(candidate.clone()), previous: previous.clone() }
    }
}

impl Kind {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Promotion => "promotion",
            Self::Rollback => "rollback",
        }
    }
}
