//! Moving the tags of a promotion forward or back, from wherever they are.

use pto_context::{Context, Event};

use super::record::{Kind, Outcome, Record, Step, TagDigests};
use super::records::Records;
use super::report::{Moved, PromotionReport};
use super::state::State;
use super::tags::Tags;
use super::upload::is_image;
use crate::error::Error;
use crate::registry::{Client, Deletion, Digest, Manifest, Options};

/// A promotion at work: its record, and what it knows of the registry.
pub(super) struct Run<'a> {
    pub(super) cx: &'a Context,
    pub(super) records: &'a Records,
    pub(super) client: &'a Client,
    pub(super) record: Record,
    pub(super) candidate: Manifest,
    pub(super) before: TagDigests,
    /// Where the tags led when they were last read.
    pub(super) now: TagDigests,
    /// Where they lead, if they were read to open the record: saves the first step from reading them again.
    just_read: Option<TagDigests>,
    pub(super) moved: Vec<Moved>,
    /// Tags that the registry deleted along with others.
    pub(super) put_back: Vec<String>,
}

/// How far a promotion got that was begun.
///
/// # Errors
/// [`Error::MovedByOther`], or it cannot be found out.
pub(super) fn standing(cx: &Context, records: &Records, registry: &Options, record: Record) -> Result<State, Error> {
    let client = Client::new(cx, record.repository.clone(), registry.clone())?;
    let mut run = Run::open(cx, records, &client, record)?;
    run.put_back()?;
    run.state()
}

impl<'a> Run<'a> {
    /// Opens the record. The first time, it reads where the tags lead and adds that to the record.
    pub(super) fn open(
        cx: &'a Context,
        records: &'a Records,
        client: &'a Client,
        mut record: Record,
    ) -> Result<Self, Error> {
        let not_uploaded = || Error::NotUploaded { tag: record.temporary.clone().unwrap_or_default() };
        let candidate = record.candidate.as_ref().ok_or_else(not_uploaded)?;
        let candidate = records.kept(&record, &candidate.manifest)?;
        // Anybody may have changed the record.
        if record.tested.as_ref().is_none_or(|tested| !is_image(&candidate, tested)) {
            let tested = record.tested.as_ref().map_or("nothing", Digest::as_str);
            let found = format!("its candidate is {}, tested was {tested}", candidate.digest());
            return Err(Error::OtherRecords { file: records.file(), found });
        }
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
        Ok(Self {
            cx,
            records,
            client,
            record,
            candidate,
            before,
            now,
            just_read,
            moved: Vec::new(),
            put_back: Vec::new(),
        })
    }

    /// The tag that is known to exist: before the end the temporary one, and `current` once it was there.
    pub(super) fn tags(&self) -> Tags<'_> {
        let removed = self.record.steps.iter().any(|entry| entry.step == Step::RemoveTemporary);
        let is_there = self.before.current.is_some() || self.record.outcome() == Some(Outcome::Promoted);
        let current = is_there.then_some(self.record.tag.as_str());
        let witness = if removed { current } else { self.record.temporary.as_deref() };
        Tags { client: self.client, witness }
    }

    /// Reads where the tags lead now, and says how far the promotion got. A tag that somebody else moved is an error.
    pub(super) fn state(&mut self) -> Result<State, Error> {
        let names = self.record.names();
        let now = match self.just_read.take() {
            Some(now) => now,
            None => TagDigests { current: self.digest(names.current())?, previous: self.digest(names.previous())? },
        };
        self.now = now;
        let state = State::of(Kind::Promotion, &self.before, self.candidate.digest(), &self.now);
        if state != State::Foreign {
            return Ok(state);
        }
        let is_ours =
            |found: &Option<Digest>| *found == self.before.current || found.as_ref() == Some(self.candidate.digest());
        let TagDigests { current, previous } = self.now.clone();
        let (tag, expected, found) = if is_ours(&current) {
            (names.previous(), self.before.previous.clone(), previous)
        } else {
            (names.current(), self.before.current.clone(), current)
        };
        Err(Error::MovedByOther { tag: tag.to_owned(), expected, found })
    }

    fn digest(&self, tag: &str) -> Result<Option<Digest>, Error> {
        Ok(self.tags().read(tag)?.map(|manifest| manifest.digest().clone()))
    }

    /// Takes the steps that are left, and reads where the tags lead before each of them.
    pub(super) fn forward(&mut self) -> Result<(), Error> {
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
    pub(super) fn undo(mut self) -> Result<PromotionReport, Error> {
        let names = self.record.names();
        let was_previous = self.before.previous.clone();
        let state = self.state()?;
        if state == State::Done && !self.is_repetition() {
            return Err(Error::Promoted { tag: names.current().to_owned() });
        }
        if !self.record.is_being_taken_back() {
            self.begin(Step::TakeBack)?;
        }
        match (state, &was_previous) {
            (State::PreviousMoved, Some(digest)) => {
                let restored = self.records.kept(&self.record, digest)?;
                let from = self.before.current.clone();
                self.lead(Step::RestorePrevious, names.previous(), from, &restored)?;
            }
            (State::PreviousMoved, None) => self.remove_previous(names.previous())?,
            _ => {}
        }
        self.state()?;
        self.begin(Step::TakenBack)?;
        self.conclude(Outcome::TakenBack, None)
    }

    /// Deletes a `previous` that did not exist before. Where the registry cannot delete a tag it stays, which does no harm: it
    /// leads where `current` leads.
    fn remove_previous(&mut self, tag: &str) -> Result<(), Error> {
        self.begin(Step::RestorePrevious)?;
        if self.client.delete_tag(tag)? == Deletion::Unsupported {
            let message =
                format!("`{tag}` stays and leads to the current image: this registry deletes no tags by name");
            self.cx.emit(Event::Warning { message });
            return Ok(());
        }
        self.put_back()?;
        // The answer may not come from the registry.
        if self.digest(tag)?.is_some() {
            return Err(Error::Contradiction { tag: tag.to_owned(), evidence: "it is there".to_owned() });
        }
        self.moved.push(Moved { tag: tag.to_owned(), from: self.before.current.clone(), to: None });
        Ok(())
    }

    /// Whether the image was current already.
    pub(super) fn is_repetition(&self) -> bool {
        self.before.current.as_ref() == Some(self.candidate.digest())
    }

    /// Records that a step is about to be taken.
    pub(super) fn begin(&mut self, step: Step) -> Result<(), Error> {
        self.records.begin(&mut self.record, step)
    }

    fn lead(&mut self, step: Step, tag: &str, from: Option<Digest>, to: &Manifest) -> Result<(), Error> {
        self.begin(step)?;
        if self.tags().lead(tag, from.as_ref(), to)? {
            self.moved.push(Moved { tag: tag.to_owned(), from, to: Some(to.digest().clone()) });
        }
        Ok(())
    }
}
