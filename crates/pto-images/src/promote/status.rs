//! Where the tags of an image lead, and whether something is left to do.

use serde::Serialize;

use super::names::Names;
use super::record::{Kind, Outcome, Record, TagDigests};
use super::records::Records;
use super::state::State;
use super::tags::Tags;
use crate::error::Error;
use crate::registry::{Client, Digest, ImageFacts, Platform};

/// The state of a published image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The tag that users pull, with its repository.
    pub reference: String,
    /// What users get; `None` before the first publication.
    pub current: Option<TagFact>,
    /// The version before; `None` until a second image is published.
    pub previous: Option<TagFact>,
    /// Tags of uploads that are left, by name.
    pub temporary: Vec<TemporaryFact>,
    /// What the records say was begun: a promotion, a rollback.
    pub begun: Vec<Begun>,
}

/// Where a tag leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TagFact {
    /// The tag.
    pub tag: String,
    /// The digest of its manifest.
    pub digest: Digest,
    /// The digest of its configuration: the image's id on the machine that built it. A list of images has none.
    pub config: Option<Digest>,
    /// What it runs on.
    pub platforms: Vec<Platform>,
    /// When it was built, by RFC 3339. A list of images does not say.
    pub created: Option<String>,
    /// Why what it runs on cannot be read, if so.
    pub problem: Option<String>,
}

/// The tag of an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemporaryFact {
    /// The tag.
    pub tag: String,
    /// The digest of its manifest; `None` if that cannot be read.
    pub digest: Option<Digest>,
    /// What became of the image.
    pub image: Upload,
    /// Why it cannot be read, if so.
    pub problem: Option<String>,
}

/// What became of an uploaded image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Upload {
    /// It is current: only the tag is left over.
    Current,
    /// It is the version before: only the tag is left over.
    Previous,
    /// The promotion that was begun needs it.
    Pending,
    /// Its promotion was taken back: only the tag is left over.
    TakenBack,
    /// It was built before the current one, or was current itself once: it is not to be promoted any more.
    Superseded,
    /// It was not promoted, as far as can be known.
    NotPromoted,
    /// It cannot be read, so nobody can promote it either.
    Unreadable,
}

/// A promotion or rollback that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Begun {
    /// Which of the two.
    pub kind: Kind,
    /// When its last step was taken, by RFC 3339.
    pub at: Option<String>,
    /// Where `current` is to lead; `None` before the end of the upload.
    pub candidate: Option<Digest>,
    /// How far it got; `None` before the end of the upload.
    pub state: Option<State>,
    /// How it ended for current and previous; `None` as long as they may still be moved.
    pub outcome: Option<Outcome>,
    /// Whether taking back was begun and is not finished.
    pub taking_back: bool,
    /// Whether nothing is left to do.
    pub over: bool,
}

impl Status {
    /// Whether nothing is left to do: something is published, nothing is half done, and no upload waits for its promotion. Tags
    /// may be left over, as not every registry deletes them.
    pub fn is_settled(&self) -> bool {
        let waits = self.temporary.iter().any(|temporary| temporary.image == Upload::NotPromoted);
        self.current.is_some() && !waits && !self.begun.iter().any(Begun::is_pending)
    }
}

impl Begun {
    /// Whether there is something to finish or to take back. Nothing is of a rollback after which a tag was moved again: that was
    /// done by whoever knew where it led.
    pub fn is_pending(&self) -> bool {
        let is_passed = self.kind == Kind::Rollback && self.state == Some(State::Foreign);
        !self.over && !is_passed
    }

    /// What became of its candidate.
    fn upload(&self) -> Upload {
        match self.outcome {
            Some(Outcome::Promoted) => Upload::Superseded,
            Some(Outcome::TakenBack) => Upload::TakenBack,
            None => Upload::Pending,
        }
    }
}

/// Asks the registry, and compares with the records if there are any.
///
/// # Errors
/// The registry does not answer, or the records cannot be read.
pub fn status(client: &Client, names: &Names, records: &[Records]) -> Result<Status, Error> {
    let tags = client.tags()?.unwrap_or_default();
    // A tag that is in the list serves as the witness for one that is not.
    let reader = Tags { client, witness: tags.first().map(String::as_str) };
    let current = fact(&reader, names.current())?;
    let previous = fact(&reader, names.previous())?;
    let digest = |fact: &Option<TagFact>| fact.as_ref().map(|fact| fact.digest.clone());
    let now = TagDigests { current: digest(&current), previous: digest(&previous) };
    let known = records.iter().map(Records::require).collect::<Result<Vec<_>, _>>()?;
    let begun: Vec<Begun> = known.iter().map(|record| begun(record, &now)).collect();
    let mut temporary = Vec::new();
    for tag in tags.iter().filter(|tag| names.is_temporary(tag)) {
        let manifest = match readable(client.manifest(tag))? {
            Ok(Some(manifest)) => manifest,
            Ok(None) => continue,
            Err(problem) => {
                temporary.push(TemporaryFact::unreadable(tag, None, problem));
                continue;
            }
        };
        let digest = manifest.digest().clone();
        let recorded = begun.iter().find(|begun| begun.candidate.as_ref() == Some(&digest)).map(Begun::upload);
        let image = match recorded {
            Some(Upload::Pending) => Upload::Pending,
            _ if now.current.as_ref() == Some(&digest) => Upload::Current,
            _ if now.previous.as_ref() == Some(&digest) => Upload::Previous,
            Some(upload) => upload,
            None => match readable(client.facts(&manifest))? {
                Ok(facts) if is_older(&facts, current.as_ref()) => Upload::Superseded,
                Ok(_) => Upload::NotPromoted,
                Err(problem) => {
                    temporary.push(TemporaryFact::unreadable(tag, Some(digest), problem));
                    continue;
                }
            },
        };
        temporary.push(TemporaryFact { tag: tag.clone(), digest: Some(digest), image, problem: None });
    }
    // Registries list tags in no order.
    temporary.sort_by(|one, other| one.tag.cmp(&other.tag));
    let reference = client.repository().with_tag(names.current());
    Ok(Status { reference, current, previous, temporary, begun })
}

fn fact(tags: &Tags<'_>, tag: &str) -> Result<Option<TagFact>, Error> {
    let Some(manifest) = tags.read(tag)? else { return Ok(None) };
    let (facts, problem) = match readable(tags.client.facts(&manifest))? {
        Ok(facts) => (facts, None),
        Err(problem) => (ImageFacts { platforms: Vec::new(), created: None }, Some(problem)),
    };
    let ImageFacts { platforms, created } = facts;
    Ok(Some(TagFact {
        tag: tag.to_owned(),
        digest: manifest.digest().clone(),
        config: manifest.config().cloned(),
        platforms,
        created: created.map(|created| humantime::format_rfc3339(created).to_string()),
        problem,
    }))
}

/// What was asked for, or why it cannot be read although the registry answers. One damaged image must not hide the others.
fn readable<T>(asked: Result<T, Error>) -> Result<Result<T, String>, Error> {
    match asked {
        Ok(answer) => Ok(Ok(answer)),
        Err(Error::Registry(failed)) if failed.problem.is_of_content() => Ok(Err(failed.to_string())),
        Err(error) => Err(error),
    }
}

impl TemporaryFact {
    fn unreadable(tag: &str, digest: Option<Digest>, problem: String) -> Self {
        Self { tag: tag.to_owned(), digest, image: Upload::Unreadable, problem: Some(problem) }
    }
}

/// Whether an upload was built before the current image; not if either time is unknown.
fn is_older(upload: &ImageFacts, current: Option<&TagFact>) -> bool {
    let current = current.and_then(|current| humantime::parse_rfc3339(current.created.as_deref()?).ok());
    upload.created.zip(current).is_some_and(|(upload, current)| upload < current)
}

fn begun(record: &Record, now: &TagDigests) -> Begun {
    let candidate = record.candidate.as_ref().map(|candidate| candidate.manifest.clone());
    let state = match (&record.before, &candidate) {
        (Some(before), Some(candidate)) => Some(State::of(record.kind, before, candidate, now)),
        (None, Some(_)) => Some(State::NotStarted),
        (_, None) => None,
    };
    let outcome = record.outcome();
    Begun {
        kind: record.kind,
        at: record.steps.last().map(|entry| entry.at.clone()),
        candidate,
        state,
        outcome,
        taking_back: record.is_being_taken_back(),
        over: record.is_over(),
    }
}
