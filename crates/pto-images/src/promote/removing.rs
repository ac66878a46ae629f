//! Deleting the tags of uploads at the end of a promotion, without losing current and previous.

use super::moving::Run;
use super::public::Public;
use super::record::{Kind, Outcome, Step};
use super::report::{PromotionReport, Temporary};
use super::tags::Tags;
use crate::error::Error;
use crate::registry::Deletion;

impl Run<'_> {
    /// Deletes the temporary tags by name, and records the end. A registry that does not delete tags by name will not do so at
    /// the next try either, so that does not keep a promotion from its end.
    pub(super) fn conclude(mut self, outcome: Outcome, public: Option<Public>) -> Result<PromotionReport, Error> {
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
            self.begin(if outcome == Outcome::Promoted { Step::Done } else { Step::Undone })?;
        }
        Ok(PromotionReport {
            image: self.record.image.clone(),
            reference: self.record.repository.with_tag(&self.record.tag),
            promoted: outcome == Outcome::Promoted,
            current: self.now.current,
            previous: self.now.previous,
            moved: self.moved,
            temporary,
            earlier,
            put_back: self.put_back,
            was_over,
            public,
        })
    }

    /// Deletes the tag of an upload. A failure is part of the report and not an error, since current and previous are where they are
    /// to be, or the next run puts them back.
    fn remove_temporary(&mut self, tag: String) -> Result<Temporary, Error> {
        self.begin(Step::RemoveTemporary)?;
        let deleted = self.client.delete_tag(&tag);
        let looked = self.put_back().and_then(|()| self.tags().read(&tag));
        // The tag is read whatever the answer was: the answer may not come from the registry, and somebody may have deleted the tag
        // by hand.
        let remains = |problem: String| Temporary::Remains { tag: tag.clone(), problem };
        match (deleted, looked) {
            (Err(Error::Interrupted), _) | (_, Err(Error::Interrupted)) => Err(Error::Interrupted),
            (Err(error), _) | (_, Err(error)) => Ok(remains(error.to_string())),
            (Ok(_), Ok(None)) => Ok(Temporary::Removed),
            (Ok(Deletion::Unsupported), Ok(Some(_))) => Ok(Temporary::Unsupported { tag }),
            (Ok(_), Ok(Some(_))) => Ok(remains("it is still there".to_owned())),
        }
    }

    /// Puts current and previous back if they are gone after a deletion, which may have been the last request of a killed run: some
    /// registries delete all tags of an image along with one of them.
    pub(super) fn put_back(&mut self) -> Result<(), Error> {
        let last = self.record.steps.iter().rev().map(|entry| entry.step).next();
        let end = match (last, self.record.outcome()) {
            (Some(Step::RemoveTemporary), Some(Outcome::Promoted)) => {
                self.before.end(Kind::Promotion, self.candidate.digest())
            }
            (Some(Step::RemoveTemporary | Step::RestorePrevious), _) => self.before.clone(),
            _ => return Ok(()),
        };
        let names = self.record.names();
        for (tag, digest) in [(names.current(), end.current), (names.previous(), end.previous)] {
            let Some(digest) = digest else { continue };
            if self.client.manifest(tag)?.is_some() {
                continue;
            }
            let manifest = self.records.kept(&self.record, &digest)?;
            // Without a witness, since any tag may be gone.
            match (Tags { client: self.client, witness: None }).lead(tag, None, &manifest) {
                Ok(true) => self.put_back.push(tag.to_owned()),
                // It is there after all, or somebody else has created it again.
                Ok(false) | Err(Error::MovedByOther { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
