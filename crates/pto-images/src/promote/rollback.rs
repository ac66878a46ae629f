//! Rollback: the version before becomes current again, without building anything.

use std::path::PathBuf;

use pto_context::Context;
use serde::Serialize;

use super::moving::standing;
use super::names::Names;
use super::public::Public;
use super::record::{Candidate, Kind, Record, Step, TagDigests};
use super::records::Records;
use super::report::Moved;
use super::state::State;
use super::tags::{Tags, lock};
use crate::error::Error;
use crate::registry::{Client, Digest, Manifest, Options, Repository};

/// What a rollback works with.
#[derive(Debug, Clone)]
pub struct Rollback {
    /// The image's name.
    pub image: String,
    /// Where it is published.
    pub repository: Repository,
    /// Its tags.
    pub names: Names,
    /// Where the steps are recorded.
    pub records: Records,
    /// Records of a promotion of the same image, which may be half way.
    pub promotion: Option<Records>,
    /// How the registry is talked to.
    pub registry: Options,
    /// The directory of the locks that all processes of this machine share.
    pub locks: PathBuf,
}

/// What a rollback did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RollbackReport {
    /// The image's name.
    pub image: String,
    /// The tag that users pull, with its repository.
    pub reference: String,
    /// Where `current` and `previous` lead.
    pub current: Digest,
    /// What was moved; `None` if `current` led to the version before already.
    pub moved: Option<Moved>,
    /// What an anonymous client sees.
    pub public: Public,
}

impl Rollback {
    /// Makes `current` lead where `previous` leads. `previous` is not touched, so doing it again changes nothing.
    ///
    /// # Errors
    /// Whatever went wrong, `current` leads where it led or to the version before: run again.
    pub fn run(&self, cx: &Context) -> Result<RollbackReport, Error> {
        let _lock = lock(&self.locks, &self.repository, &self.names)?;
        let earlier = self.records.last()?;
        let is_over = earlier.as_ref().is_some_and(|record| record.outcome().is_some());
        if let Some(record) = earlier.filter(|record| !is_over && record.kind != Kind::Rollback) {
            return Err(self.records.begun(record.kind));
        }
        if let Some(promotion) = &self.promotion {
            self.check_not_half_way(cx, promotion)?;
        }
        let client = Client::new(cx, self.repository.clone(), self.registry.clone())?;
        let (current, previous) = (self.names.current(), self.names.previous());
        let version_before = Tags { client: &client, witness: None }.read(previous)?;
        let version_before = version_before.ok_or_else(|| Error::NothingBefore { tag: previous.to_owned() })?;
        let tags = Tags { client: &client, witness: Some(previous) };
        let now = tags.read(current)?;
        let from = now.as_ref().map(|manifest| manifest.digest().clone());
        if is_over {
            self.records.set_aside()?;
        }
        let mut record = self.record(now.as_ref(), &version_before)?;
        let moved = if from.as_ref() == Some(version_before.digest()) {
            None
        } else {
            self.records.begin(&mut record, Step::MoveCurrent)?;
            tags.lead(current, from.as_ref(), &version_before)?;
            Some(Moved { tag: current.to_owned(), from, to: Some(version_before.digest().clone()) })
        };
        let public = Public::ask(cx, &self.repository, &self.registry, current, version_before.digest())?;
        self.records.begin(&mut record, Step::Done)?;
        Ok(RollbackReport {
            image: self.image.clone(),
            reference: self.repository.with_tag(current),
            current: version_before.digest().clone(),
            moved,
            public,
        })
    }

    /// Refuses a rollback half way through a promotion: `previous` leads where `current` leads, so going back would change nothing,
    /// and the version before is only in the records of the promotion.
    fn check_not_half_way(&self, cx: &Context, promotion: &Records) -> Result<(), Error> {
        let begun = promotion.last()?.filter(|record| record.outcome().is_none() && record.before.is_some());
        match begun.map(|record| standing(cx, promotion, &self.registry, record)) {
            Some(Ok(State::PreviousMoved)) => Err(promotion.begun(Kind::Promotion)),
            Some(Ok(_)) | Some(Err(Error::MovedByOther { .. })) | None => Ok(()),
            Some(Err(error)) => Err(error),
        }
    }

    /// Records where the tags lead before anything is moved, and saves both manifests.
    fn record(&self, now: Option<&Manifest>, version_before: &Manifest) -> Result<Record, Error> {
        let mut record = Record::new(Kind::Rollback, &self.image, &self.repository, &self.names);
        for manifest in now.into_iter().chain([version_before]) {
            self.records.keep(&mut record, manifest)?;
        }
        let digest = |manifest: &Manifest| manifest.digest().clone();
        record.candidate =
            Some(Candidate { manifest: digest(version_before), config: version_before.config().cloned() });
        record.before = Some(TagDigests { current: now.map(digest), previous: Some(digest(version_before)) });
        self.records.save(&record)?;
        Ok(record)
    }
}
