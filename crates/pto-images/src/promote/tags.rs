//! Reading and moving tags.

use std::path::Path;

use pto_store::Lock;

use crate::error::Error;
use crate::registry::{Client, Digest, Manifest, Repository, wait};

/// The tags of one published image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    current: String,
    previous: String,
}

impl Names {
    /// What the version before is called.
    pub const PREVIOUS: &'static str = "-previous";

    /// Those of the tag that users pull.
    pub fn new(tag: &str) -> Self {
        Self { current: tag.to_owned(), previous: format!("{tag}{}", Self::PREVIOUS) }
    }

    /// The tag that users pull.
    pub fn current(&self) -> &str {
        &self.current
    }

    /// The version before.
    pub fn previous(&self) -> &str {
        &self.previous
    }

    /// What one attempt of one run uploads to.
    pub fn temporary(&self, run: &str, attempt: u32) -> String {
        format!("{}-{run}-{attempt}", self.current)
    }

    /// Whether a tag is one that some run uploaded to.
    pub fn is_temporary(&self, tag: &str) -> bool {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let rest = tag.strip_prefix(self.current.as_str()).and_then(|rest| rest.strip_prefix('-'));
        rest.and_then(|rest| rest.split_once('-')).is_some_and(|(run, attempt)| is_number(run) && is_number(attempt))
    }
}

/// Keeps other processes of this machine from moving the same image's tags.
///
/// # Errors
/// [`Error::Busy`] if one does.
pub fn lock(dir: &Path, repository: &Repository, names: &Names) -> Result<Lock, Error> {
    fs_err::create_dir_all(dir).map_err(Error::io("make the directory of locks"))?;
    let tag = repository.with_tag(names.current());
    let file = dir.join(format!("{}.lock", &Digest::of(tag.as_bytes()).hex()[..24]));
    Lock::try_acquire(&file).map_err(Error::Lock)?.ok_or(Error::Busy { tag })
}

/// The tags of a repository, with a witness: a tag that is known to exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags<'a> {
    pub(crate) client: &'a Client,
    /// Whatever says that a tag does not exist has to know this one.
    pub(crate) witness: Option<&'a str>,
}

impl Tags<'_> {
    /// What a tag leads to. That it does not exist is believed only if the list of tags says so too.
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

    /// Makes a tag that leads to `from` lead to `to`. Looks before each try, and once more after the last: the answer to a
    /// request may be lost although the request was heard. Whether it had to be moved.
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
                // Looked at in the next round.
                Ok(()) if tries <= limits.attempts => {}
                Ok(()) => return Err(Error::NotKept { tag: tag.to_owned() }),
                Err(failed) if failed.problem.may_pass() && tries < limits.attempts => {
                    wait(limits.pause(tries, &failed.problem))?;
                }
                Err(mut failed) => {
                    failed.tries = tries;
                    // It may have been heard all the same, and then all is well.
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
    fn temporary_tags_are_told_from_others() {
        let names = Names::new("arm-cann9.2-dist");
        assert_eq!(names.temporary("123", 2), "arm-cann9.2-dist-123-2");
        assert!(names.is_temporary("arm-cann9.2-dist-123-2"));
        for other in ["arm-cann9.2-dist", "arm-cann9.2-dist-previous", "arm-cann9.2-dist-2026", "arm-cann9.2-dist-1-x"]
        {
            assert!(!names.is_temporary(other), "{other}");
        }
    }

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
