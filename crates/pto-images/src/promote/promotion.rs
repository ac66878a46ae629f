//! Promotion: an uploaded image becomes current.

use std::path::PathBuf;

use pto_context::{Context, Event};

use super::public::Public;
use super::record::{Kind, Record, Step, TagDigests};
use super::records::Records;
use super::report::{Moved, PromotionReport, Temporary};
use super::state::State;
use super::tags::{Tags, lock};
use super::upstream::Upstream;
use crate::error::Error;
use crate::registry::{Client, Deletion, Digest, Manifest, Options};

/// What a promotion works with.
#[derive(Debug, Clone)]
pub struct Promotion {
    /// The record of the upload, continued with each step.
    pub records: Records,
    /// How the registry is talked to.
    pub registry: Options,
    /// Where the newest recipe is.
    pub upstream: Upstream,
    /// The directory of the locks that all processes of this machine share.
    pub locks: PathBuf,
}

/// What to do with a promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Begin it. One that was begun already is refused.
    Begin,
    /// Finish one that was begun, or take it back if there is a newer recipe by now.
    Resume,
    /// Take back one that was begun.
    Undo,
}

/// A promotion at work: its record, and what it knows of the registry.
struct Run<'a> {
    cx: &'a Context,
    records: &'a Records,
    client: &'a Client,
    record: Record,
    candidate: Manifest,
    /// Where the tags led before the first step.
    before: TagDigests,
    /// Where they led when they were last read.
    now: TagDigests,
    /// Where they lead, if they were read to open the record: saves the first step from reading them again.
    just_read: Option<TagDigests>,
    moved: Vec<Moved>,
}

impl Promotion {
    /// Moves the tags, or takes back what was moved.
    ///
    /// # Errors
    /// Whatever went wrong, `current` leads where it led or to the tested image, and nothing is lost: run again with
    /// [`Action::Resume`].
    pub fn run(&self, cx: &Context, action: Action) -> Result<PromotionReport, Error> {
        let record = self.records.require()?;
        let _lock = lock(&self.locks, &record.repository, &record.names())?;
        // Reads the record again: a process that held the lock until now may have continued it.
        self.run_locked(cx, action)
    }

    /// The same for a caller that holds the lock.
    pub(crate) fn run_locked(&self, cx: &Context, action: Action) -> Result<PromotionReport, Error> {
        let record = self.records.require()?;
        if action == Action::Begin && record.kind == Kind::Promotion && record.is_over() {
            return Err(Error::Over { dir: self.records.dir().to_owned() });
        }
        if record.kind != Kind::Promotion || (action == Action::Begin && record.before.is_some()) {
            return Err(Error::Begun { dir: self.records.dir().to_owned(), kind: record.kind.name() });
        }
        // Taking back needs no recipe.
        let commit = if action == Action::Undo { None } else { Some(self.commit(&record)?) };
        let client = Client::new(cx, record.repository.clone(), self.registry.clone())?;
        let mut run = Run::open(cx, &self.records, &client, record)?;
        let Some(commit) = commit else { return run.undo(None) };
        match self.upstream.check(cx, &commit) {
            Ok(()) => {}
            // A promotion must not stay half done, so it is taken back. If only its end is left, the recipe no longer matters.
            Err(stale @ Error::Stale { .. }) if run.state()? != State::Done => return run.undo(Some(stale)),
            Err(Error::Stale { .. }) => {}
            Err(error) => return Err(error),
        }
        run.forward()?;
        let public =
            Public::ask(cx, client.repository(), &self.registry, run.record.names().current(), run.candidate.digest())?;
        run.conclude(Step::Done, Some(public))
    }

    /// The commit of the image's recipe, if the recipe is one of the upstream that decides.
    fn commit(&self, record: &Record) -> Result<String, Error> {
        let other = |found| Error::OtherRecords { file: self.records.file(), found };
        let recipe = record.recipe.as_ref().ok_or_else(|| other("it names no recipe".to_owned()))?;
        match self.upstream.differs(recipe) {
            Some(found) => Err(other(found)),
            None => Ok(recipe.commit.clone()),
        }
    }
}

/// How far a promotion got that was begun.
///
/// # Errors
/// [`Error::MovedByOther`], or it cannot be found out.
pub(super) fn standing(cx: &Context, records: &Records, registry: &Options, record: Record) -> Result<State, Error> {
    let client = Client::new(cx, record.repository.clone(), registry.clone())?;
    Run::open(cx, records, &client, record)?.state()
}

impl<'a> Run<'a> {
    /// Opens the record. The first time, it reads where the tags lead and adds that to the record.
    fn open(cx: &'a Context, records: &'a Records, client: &'a Client, mut record: Record) -> Result<Self, Error> {
        let not_uploaded = || Error::NotUploaded { tag: record.temporary.clone().unwrap_or_default() };
        let candidate = record.candidate.as_ref().ok_or_else(not_uploaded)?;
        let candidate = records.kept(&record, &candidate.manifest)?;
        let (before, just_read) = match &record.before {
            Some(before) => (before.clone(), None),
            None => {
                let (names, temporary) = (record.names(), record.temporary.clone());
                let tags = Tags { client, witness: temporary.as_deref() };
                let current = tags.read(names.current())?;
                let previous = tags.read(names.previous())?;
                for manifest in current.iter().chain(&previous) {
                    records.keep(&mut record, manifest)?;
                }
                let digest = |manifest: Option<Manifest>| manifest.map(|manifest| manifest.digest().clone());
                let before = TagDigests { current: digest(current), previous: digest(previous) };
                record.before = Some(before.clone());
                records.save(&record)?;
                (before.clone(), Some(before))
            }
        };
        let now = before.clone();
        Ok(Self { cx, records, client, record, candidate, before, now, just_read, moved: Vec::new() })
    }

    /// The witness is the temporary tag as long as it is there, then `current` if it existed before.
    fn tags(&self) -> Tags<'_> {
        let removed = self.record.steps.iter().any(|entry| entry.step == Step::RemoveTemporary);
        let current = self.before.current.as_ref().map(|_| self.record.tag.as_str());
        let witness = if removed { current } else { self.record.temporary.as_deref() };
        Tags { client: self.client, witness }
    }

    /// Reads where the tags lead now, and says how far the promotion got. A tag that somebody else moved is an error.
    fn state(&mut self) -> Result<State, Error> {
        let names = self.record.names();
        self.now = match self.just_read.take() {
            Some(now) => now,
            None => TagDigests { current: self.digest(names.current())?, previous: self.digest(names.previous())? },
        };
        let (before, now, candidate) = (&self.before, &self.now, self.candidate.digest());
        let state = State::of(Kind::Promotion, before, candidate, now);
        if state != State::Foreign {
            return Ok(state);
        }
        let is_current_ours = now.current == before.current || now.current.as_ref() == Some(candidate);
        let (tag, expected, found) = match is_current_ours {
            true => (names.previous(), before.previous.clone(), now.previous.clone()),
            false => (names.current(), before.current.clone(), now.current.clone()),
        };
        Err(Error::MovedByOther { tag: tag.to_owned(), expected, found })
    }

    fn digest(&self, tag: &str) -> Result<Option<Digest>, Error> {
        Ok(self.tags().read(tag)?.map(|manifest| manifest.digest().clone()))
    }

    /// Takes the steps that are left, and reads where the tags lead before each of them.
    fn forward(&mut self) -> Result<(), Error> {
        loop {
            let names = self.record.names();
            let (was_current, was_previous) = (self.before.current.clone(), self.before.previous.clone());
            match (self.state()?, was_current) {
                (State::Done, _) => return Ok(()),
                (State::NotStarted, Some(current)) => {
                    let version_before = self.records.kept(&self.record, &current)?;
                    self.lead(Step::MovePrevious, names.previous(), was_previous, &version_before)?;
                }
                (_, was_current) => {
                    let candidate = self.candidate.clone();
                    self.lead(Step::MoveCurrent, names.current(), was_current, &candidate)?;
                }
            }
        }
    }

    /// Takes back what was moved. `current` is not touched: once it was moved, going back is a rollback.
    fn undo(mut self, because: Option<Error>) -> Result<PromotionReport, Error> {
        let names = self.record.names();
        let was_previous = self.before.previous.clone();
        match (self.state()?, &was_previous) {
            (State::Done, _) if self.before.current.as_ref() != Some(self.candidate.digest()) => {
                return Err(Error::Promoted { tag: names.current().to_owned() });
            }
            (State::PreviousMoved, Some(digest)) => {
                let restored = self.records.kept(&self.record, digest)?;
                let from = self.before.current.clone();
                self.lead(Step::RestorePrevious, names.previous(), from, &restored)?;
            }
            (State::PreviousMoved, None) => self.remove_previous(names.previous())?,
            _ => {}
        }
        self.state()?;
        let report = self.conclude(Step::Undone, None)?;
        match because {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }

    /// Deletes a `previous` that did not exist before. Where the registry cannot delete a tag it stays, which does no harm: it
    /// leads where `current` leads.
    fn remove_previous(&mut self, tag: &str) -> Result<(), Error> {
        self.records.begin(&mut self.record, Step::RestorePrevious)?;
        if self.client.delete_tag(tag)? == Deletion::Unsupported {
            let message =
                format!("`{tag}` stays and leads to the current image: this registry deletes no tags by name");
            self.cx.emit(Event::Warning { message });
        } else {
            self.moved.push(Moved { tag: tag.to_owned(), from: self.before.current.clone(), to: None });
        }
        Ok(())
    }

    fn lead(&mut self, step: Step, tag: &str, from: Option<Digest>, to: &Manifest) -> Result<(), Error> {
        self.records.begin(&mut self.record, step)?;
        if self.tags().lead(tag, from.as_ref(), to)? {
            self.moved.push(Moved { tag: tag.to_owned(), from, to: Some(to.digest().clone()) });
        }
        Ok(())
    }

    /// Deletes the temporary tags by name, and records the end. A registry that does not delete tags by name will not do so at
    /// the next try either, so that does not keep a promotion from its end.
    fn conclude(mut self, last: Step, public: Option<Public>) -> Result<PromotionReport, Error> {
        let was_over = self.record.is_over();
        let temporary = match self.record.temporary.clone() {
            Some(tag) => self.remove_temporary(tag)?,
            None => Temporary::Removed,
        };
        let mut earlier = Vec::new();
        for tag in self.record.earlier.clone() {
            earlier.push(self.remove_temporary(tag)?);
        }
        let remains = |temporary: &Temporary| matches!(temporary, Temporary::Remains { .. });
        if ![&temporary].into_iter().chain(&earlier).any(remains) {
            self.records.begin(&mut self.record, last)?;
        }
        Ok(PromotionReport {
            image: self.record.image.clone(),
            reference: self.record.repository.with_tag(&self.record.tag),
            promoted: last == Step::Done,
            current: self.now.current,
            previous: self.now.previous,
            moved: self.moved,
            temporary,
            earlier,
            was_over,
            public,
        })
    }

    /// Deletes the tag of an upload. A failure is part of the report, not an error: current and previous are where they are to be.
    fn remove_temporary(&mut self, tag: String) -> Result<Temporary, Error> {
        self.records.begin(&mut self.record, Step::RemoveTemporary)?;
        let outcome = self.client.delete_tag(&tag).and_then(|deletion| {
            // Read the tag whatever the answer was: it may not come from the registry, and somebody may have deleted the tag by
            // hand.
            Ok(match (self.tags().read(&tag)?, deletion) {
                (None, _) => Temporary::Removed,
                (Some(_), Deletion::Unsupported) => Temporary::Unsupported { tag: tag.clone() },
                (Some(_), _) => Temporary::Remains { tag: tag.clone(), problem: "it is still there".to_owned() },
            })
        });
        match outcome {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => Ok(Temporary::Remains { tag, problem: error.to_string() }),
            Ok(temporary) => Ok(temporary),
        }
    }
}
