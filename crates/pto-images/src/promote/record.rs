//! What is written down before each step: enough to finish it, to take it back, and to repair it by hand.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tags::Names;
use crate::document::Form;
use crate::registry::{Digest, Repository};

/// What is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    schema: String,
    /// What is done.
    pub kind: Kind,
    /// The image's name in the configuration.
    pub image: String,
    /// Where it is published.
    pub repository: Repository,
    /// The tag that users pull.
    pub tag: String,
    /// The tag under which it was uploaded.
    pub temporary: Option<String>,
    /// Tags of uploads before it that came to no end: they are removed with this one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// What it was built from; a rollback has none.
    pub recipe: Option<Recipe>,
    /// What was tested, by the digest of its configuration.
    pub tested: Option<Digest>,
    /// What `current` is to lead to; not known before the upload.
    pub candidate: Option<Candidate>,
    /// Where the tags led when the first of them was about to be moved.
    pub before: Option<Before>,
    /// The types of the manifests that are kept.
    #[serde(default)]
    pub media_types: BTreeMap<Digest, String>,
    /// What was begun, and when.
    pub steps: Vec<Entry>,
}

/// What is done with the tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A new image becomes current.
    Promotion,
    /// The one before becomes current again.
    Rollback,
}

/// What an image was built from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The repository with the recipe, as git takes it.
    pub repository: String,
    /// Its branch that counts.
    pub branch: String,
    /// The commit.
    pub commit: String,
}

/// An image in the registry that was compared with the tested one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its manifest.
    pub manifest: Digest,
    /// Its configuration; a list of images has none.
    pub config: Option<Digest>,
}

/// Where the tags led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The tag that users pull.
    pub current: Option<Digest>,
    /// The version before.
    pub previous: Option<Digest>,
}

/// A step, written down before it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which.
    pub step: Step,
    /// When, by RFC 3339.
    pub at: String,
}

/// The steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The tested image goes to its temporary tag.
    Upload,
    /// It was compared with the tested image.
    Compared,
    /// `previous` is moved.
    MovePrevious,
    /// `current` is moved.
    MoveCurrent,
    /// It is to be taken back: from here on nothing else is finished.
    TakeBack,
    /// `previous` is moved back.
    RestorePrevious,
    /// `current` and `previous` lead to where they are to lead, and are not moved again.
    Promoted,
    /// `current` and `previous` lead to where they led, and are not moved again.
    TakenBack,
    /// The temporary tag is deleted.
    RemoveTemporary,
    /// All is done.
    Done,
    /// All is as before.
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

    /// How it ended for the tags that count; `None` as long as they may be moved.
    pub fn outcome(&self) -> Option<Outcome> {
        self.steps.iter().find_map(|entry| match entry.step {
            Step::Promoted | Step::Done => Some(Outcome::Promoted),
            Step::TakenBack | Step::Undone => Some(Outcome::TakenBack),
            _ => None,
        })
    }

    /// Whether somebody has begun to take it back.
    pub fn is_being_taken_back(&self) -> bool {
        self.outcome().is_none() && self.steps.iter().any(|entry| entry.step == Step::TakeBack)
    }

    /// Whether it came to an end, be it good or taken back.
    pub fn is_over(&self) -> bool {
        self.steps.last().is_some_and(|entry| matches!(entry.step, Step::Done | Step::Undone))
    }

    /// Whether the tags that count are where they were to be. The temporary one may be left: not every registry deletes a tag
    /// by its name, so this must not keep the next publication from being made.
    pub(crate) fn has_moved_all(&self) -> bool {
        self.outcome().is_some()
    }
}

/// How it ended for the tags that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// What was to become current did.
    Promoted,
    /// All is as before.
    TakenBack,
}

impl Before {
    /// Whether `previous` is moved: a rollback leaves it alone, and so does a promotion of what is current already, or of the
    /// first image.
    pub(crate) fn moves_previous(&self, kind: Kind, candidate: &Digest) -> bool {
        kind == Kind::Promotion && self.current.as_ref().is_some_and(|current| current != candidate)
    }

    /// Where the tags lead in the end.
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
