//! Reading and moving tags of a registry.

use std::path::Path;

use pto_store::Lock;

use super::names::Names;
use crate::error::Error;
use crate::locks::try_lock;
use crate::registry::{Client, Digest, Manifest, Repository};

/// Keeps other processes of this machine from moving the same image's tags.
///
/// # Errors
/// [`Error::Busy`] if one does so now.
pub(super) fn lock(dir: &Path, repository: &Repository, names: &Names) -> Result<Lock, Error> {
    let tag = repository.with_tag(names.current());
    try_lock(dir, &tag)?.ok_or(Error::Busy { tag })
}

/// The tags of a repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags<'a> {
    pub(crate) client: &'a Client,
    /// A tag that is known to exist: an answer that another tag does not exist counts only if the list of tags has this one.
    pub(crate) witness: Option<&'a str>,
}

impl Tags<'_> {
    /// The manifest that a tag leads to. That there is none is believed only if the list of tags says so too.
    pub(crate) fn read(&self, tag: &str) -> Result<Option<Manifest>, Error> {
        if let Some(manifest) = self.client.manifest(tag)? {
            return Ok(Some(manifest));
        }
        let contradiction = |evidence: String| Error::Contradiction { tag: tag.to_owned(), evidence };
        match (self.client.tags()?, self.witness) {
            (Some(tags), _) if tags.iter().any(|known| known == tag) => {
                Err(contradiction("it is in the list of tags".to_owned()))
            }
            (Some(tags), Some(witness)) if !tags.iter().any(|known| known == witness) => {
                Err(contradiction(format!("that `{witness}`, which does, is not in the list of tags")))
            }
            (None, Some(witness)) => {
                Err(contradiction(format!("that there is no repository, in which `{witness}` is")))
            }
            _ => Ok(None),
        }
    }

    /// Makes a tag that leads to `from` lead to `to`, and says whether it had to be moved. Reads the tag before each try and
    /// after the last one, since a request may have been carried out although its answer was lost.
    pub(crate) fn lead(&self, tag: &str, from: Option<&Digest>, to: &Manifest) -> Result<bool, Error> {
        let limits = *self.client.limits();
        let (mut tries, mut sent) = (0, false);
        loop {
            let found = self.read(tag)?;
            let found = found.as_ref().map(Manifest::digest);
            if found == Some(to.digest()) {
                return Ok(sent);
            }
            if found != from {
                let (expected, found) = (from.cloned(), found.cloned());
                return Err(Error::MovedByOther { tag: tag.to_owned(), expected, found });
            }
            tries += 1;
            sent = true;
            match self.client.put_manifest(tag, to) {
                // The next round reads the tag.
                Ok(()) if tries <= limits.attempts => {}
                Ok(()) => return Err(Error::NotKept { tag: tag.to_owned() }),
                Err(failed) if failed.problem.may_pass() && tries < limits.attempts => {
                    self.client.rest(&failed, tries)?;
                }
                Err(mut failed) => {
                    failed.tries = tries;
                    // It may have been carried out all the same.
                    let there = self.read(tag).ok().flatten();
                    if there.is_some_and(|there| there.digest() == to.digest()) {
                        return Ok(true);
                    }
                    return Err(failed.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_image_is_moved_by_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let repository = "h.example/a".parse().unwrap();
        let (one, two) = (Names::new("one"), Names::new("two"));
        let held = lock(dir.path(), &repository, &one).unwrap();
        assert!(matches!(lock(dir.path(), &repository, &one), Err(Error::Busy { .. })));
        assert!(lock(dir.path(), &repository, &two).is_ok());
        drop(held);
        assert!(lock(dir.path(), &repository, &one).is_ok());
    }
}
