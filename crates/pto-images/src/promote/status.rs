//! Where the tags of an image lead, and what was begun and not ended.

use serde::Serialize;

use super::record::{Kind, Outcome, Record};
use super::records::Records;
use super::state::State;
use super::tags::{Names, Tags};
use crate::error::Error;
use crate::registry::{Client, Digest, ImageFacts, Platform};

/// What there is to know of a published image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The tag that users pull, with its repository.
    pub reference: String,
    /// What users get; `None` before the first publication.
    pub current: Option<TagFact>,
    /// The version before; `None` before the second publication of another image.
    pub previous: Option<TagFact>,
    /// Tags of uploads that are left.
    pub temporary: Vec<TemporaryFact>,
    /// What the records say, if there are any.
    pub begun: Option<Begun>,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TagFact {
    /// The tag.
    pub tag: String,
    /// Its manifest.
    pub digest: Digest,
    /// Its configuration, which is the id of the image on the machine that built it; a list of images has none.
    pub config: Option<Digest>,
    /// What it runs on.
    pub platforms: Vec<Platform>,
    /// When it was built, by RFC 3339; a list of images does not say.
    pub created: Option<String>,
}

/// A tag that some run uploaded to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemporaryFact {
    /// The tag.
    pub tag: String,
    /// Its manifest.
    pub digest: Digest,
    /// What that image is.
    pub image: Upload,
}

/// What an image is to those that users pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Upload {
    /// It is current: only the tag is left over.
    Current,
    /// It was current before the one that is: only the tag is left over.
    Previous,
    /// It was built before the one that is current: whatever became of it, it is not to be promoted any more.
    Older,
    /// It was not promoted, as far as can be known.
    NotPromoted,
}

/// What was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Begun {
    /// What.
    pub kind: Kind,
    /// What `current` is to lead to; `None` before the end of the upload.
    pub candidate: Option<Digest>,
    /// Where it stands; `None` before the end of the upload.
    pub state: Option<State>,
    /// How it ended for the tags that count; `None` as long as they may be moved.
    pub outcome: Option<Outcome>,
    /// Whether it is being taken back.
    pub taking_back: bool,
    /// Whether it came to its end.
    pub over: bool,
}

impl Status {
    /// Whether there is nothing left to do: no upload that was not promoted, nothing begun, no tag left over.
    pub fn is_settled(&self) -> bool {
        let over = self.begun.as_ref().is_none_or(|begun| begun.over);
        self.current.is_some() && self.temporary.is_empty() && over
    }
}

/// Asks the registry, and compares with the records if there are any.
///
/// # Errors
/// The registry does not answer, or the records cannot be read.
pub fn status(client: &Client, names: &Names, records: Option<&Records>) -> Result<Status, Error> {
    let tags = client.tags()?.unwrap_or_default();
    let exists = |tag: &str| tags.iter().find(|known| *known == tag).map(String::as_str);
    // A tag that is in the list serves as the witness for one that is not.
    let reader = Tags { client, witness: tags.first().map(String::as_str) };
    let current = fact(&reader, names.current())?;
    let previous = fact(&reader, names.previous())?;
    for (found, tag) in [(&current, names.current()), (&previous, names.previous())] {
        if found.is_none() && exists(tag).is_some() {
            let evidence = "it is in the list of tags".to_owned();
            return Err(Error::Contradiction { tag: tag.to_owned(), evidence });
        }
    }
    let mut temporary = Vec::new();
    for tag in tags.iter().filter(|tag| names.is_temporary(tag)) {
        let Some(manifest) = client.manifest(tag)? else { continue };
        let digest = manifest.digest().clone();
        let leads_there = |fact: &Option<TagFact>| fact.as_ref().is_some_and(|fact| fact.digest == digest);
        let image = match (leads_there(&current), leads_there(&previous)) {
            (true, _) => Upload::Current,
            (_, true) => Upload::Previous,
            _ if is_older(&client.facts(&manifest)?, current.as_ref()) => Upload::Older,
            _ => Upload::NotPromoted,
        };
        temporary.push(TemporaryFact { tag: tag.clone(), digest, image });
    }
    // Registries list tags in no order.
    temporary.sort_by(|one, other| one.tag.cmp(&other.tag));
    let record = records.map(Records::require).transpose()?;
    let digest = |fact: &Option<TagFact>| fact.as_ref().map(|fact| fact.digest.clone());
    let begun = record.map(|record| begun(&record, digest(&current).as_ref(), digest(&previous).as_ref()));
    let reference = client.repository().with_tag(names.current());
    Ok(Status { reference, current, previous, temporary, begun })
}

fn fact(tags: &Tags<'_>, tag: &str) -> Result<Option<TagFact>, Error> {
    let Some(manifest) = tags.read(tag)? else { return Ok(None) };
    let ImageFacts { platforms, created } = tags.client.facts(&manifest)?;
    Ok(Some(TagFact {
        tag: tag.to_owned(),
        digest: manifest.digest().clone(),
        config: manifest.config().cloned(),
        platforms,
        created: created.map(|created| humantime::format_rfc3339(created).to_string()),
    }))
}

/// Not known is not older.
fn is_older(upload: &ImageFacts, current: Option<&TagFact>) -> bool {
    let current = current.and_then(|current| humantime::parse_rfc3339(current.created.as_deref()?).ok());
    upload.created.zip(current).is_some_and(|(upload, current)| upload < current)
}

fn begun(record: &Record, current: Option<&Digest>, previous: Option<&Digest>) -> Begun {
    let candidate = record.candidate.as_ref().map(|candidate| candidate.manifest.clone());
    let state = match (&record.before, &candidate) {
        (Some(before), Some(candidate)) => Some(State::of(record.kind, before, candidate, current, previous)),
        (None, Some(_)) => Some(State::NotStarted),
        (_, None) => None,
    };
    let outcome = record.outcome();
    Begun {
        kind: record.kind,
        candidate,
        state,
        outcome,
        taking_back: record.is_being_taken_back(),
        over: record.is_over(),
    }
}
