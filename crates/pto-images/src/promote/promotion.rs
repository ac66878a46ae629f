//! Promotion: an uploaded image becomes current.

use std::path::PathBuf;

use pto_context::Context;

use super::moving::Run;
use super::public::Public;
use super::record::{Kind, Outcome, Record, Step};
use super::records::Records;
use super::report::PromotionReport;
use super::state::State;
use super::tags::lock;
use super::upstream::Upstream;
use crate::error::Error;
use crate::registry::{Client, Options};

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
        self.check_begin(&record, action)?;
        // The recipe does not matter for taking back.
        let commit = if action == Action::Undo { None } else { Some(self.commit(&record)?) };
        let client = Client::new(cx, record.repository.clone(), self.registry.clone())?;
        let mut run = Run::open(cx, &self.records, &client, record)?;
        run.put_back()?;
        if let Some(outcome) = run.record.outcome() {
            return self.tidy(run, outcome, action);
        }
        let Some(commit) = commit else { return run.undo() };
        // Once taking back was begun, it is finished. If the tags lead where they were to lead all the same, there is nothing to
        // take back.
        if run.record.is_being_taken_back() && run.state()? != State::Done {
            return run.undo();
        }
        match self.upstream.check(cx, &commit) {
            Ok(()) => {}
            // A promotion that is half done is taken back; one that is done stays.
            Err(stale @ Error::Stale { .. }) if run.state()? != State::Done => {
                let tag = run.record.tag.clone();
                run.undo()?;
                return Err(Error::TakenBack { tag, because: Box::new(stale) });
            }
            Err(Error::Stale { .. }) => {}
            Err(error) => return Err(error),
        }
        run.forward()?;
        run.begin(Step::Promoted)?;
        let public = self.public(&run)?;
        run.conclude(Outcome::Promoted, Some(public))
    }

    fn check_begin(&self, record: &Record, action: Action) -> Result<(), Error> {
        let is_begin = action == Action::Begin;
        if is_begin && record.kind == Kind::Promotion && record.is_over() {
            return Err(self.over());
        }
        if record.kind != Kind::Promotion {
            let found = format!("its kind is `{}`, expected `{}`", record.kind.name(), Kind::Promotion.name());
            return Err(Error::OtherRecords { file: self.records.file(), found });
        }
        if is_begin && record.before.is_some() {
            return Err(self.records.begun(record.kind));
        }
        Ok(())
    }

    /// Does what is left once current and previous are settled. It does not move them again: if something has moved them since,
    /// such as a rollback, that was intended.
    fn tidy(&self, mut run: Run<'_>, outcome: Outcome, action: Action) -> Result<PromotionReport, Error> {
        let was_over = run.record.is_over();
        let state = match run.state() {
            Err(Error::MovedByOther { .. }) => State::Foreign,
            state => state?,
        };
        let stands = match outcome {
            Outcome::Promoted => state == State::Done,
            Outcome::TakenBack => state != State::Foreign && (state != State::Done || run.is_repetition()),
        };
        match (outcome, action) {
            (Outcome::Promoted, Action::Undo) if stands && !run.is_repetition() => {
                return Err(Error::Promoted { tag: run.record.tag });
            }
            (Outcome::Promoted, Action::Undo) => return Err(self.over()),
            // There is nothing to resume.
            (Outcome::TakenBack, Action::Resume) if was_over => return Err(self.over()),
            _ if was_over && !stands => return Err(self.over()),
            _ => {}
        }
        let public = if stands && outcome == Outcome::Promoted { Some(self.public(&run)?) } else { None };
        let report = run.conclude(outcome, public)?;
        // What was left is done. Where the tags lead by now is not this promotion's.
        let was_over = report.was_over || !stands;
        Ok(PromotionReport { was_over, ..report })
    }

    fn public(&self, run: &Run<'_>) -> Result<Public, Error> {
        let (repository, candidate) = (run.client.repository(), run.candidate.digest());
        Public::ask(run.cx, repository, &self.registry, &run.record.tag, candidate)
    }

    fn over(&self) -> Error {
        Error::Over { dir: self.records.dir().to_owned() }
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
