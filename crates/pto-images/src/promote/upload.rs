//! Comparing an upload with the tested image: unless they are the same, the upload is never promoted.

use pto_context::Context;

use super::begin::require_nothing_begun;
use super::names::Names;
use super::record::{Candidate, Kind, Recipe, Record, Step};
use super::records::Records;
use crate::error::Error;
use crate::registry::{Client, Digest, Manifest, Options, Repository};

/// An image that was uploaded to a temporary tag, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// The image's name in the configuration.
    pub image: String,
    /// Where it is published.
    pub repository: Repository,
    /// Its tags.
    pub names: Names,
    /// The tag of the upload.
    pub temporary: String,
    /// What it was built from.
    pub recipe: Recipe,
    /// The image that it has to be.
    pub tested: Tested,
}

/// The tested image, as the engine that ran it knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Its id: the digest of its configuration, or of its manifest if the engine uses containerd's image store.
    pub id: Digest,
    /// The digests of the manifests that the engine has uploaded for it to the repository.
    pub manifests: Vec<Digest>,
}

impl Uploaded {
    /// Records what is about to be uploaded.
    pub(crate) fn begin(&self, records: &Records) -> Result<Record, Error> {
        let mut record = Record::new(Kind::Promotion, &self.image, &self.repository, &self.names);
        record.temporary = Some(self.temporary.clone());
        let last = records.last()?;
        record.earlier = last.iter().flat_map(|last| self.unfinished_uploads(last)).collect();
        // An upload whose promotion was not begun is not worth keeping.
        if last.is_some_and(|last| last.before.is_some()) {
            records.set_aside()?;
        }
        record.recipe = Some(self.recipe.clone());
        record.tested = Some(self.tested.id.clone());
        records.begin(&mut record, Step::Upload)?;
        Ok(record)
    }

    /// The tags of uploads in the last record that were not deleted. Once it is replaced, nothing else knows of them.
    fn unfinished_uploads(&self, last: &Record) -> Vec<String> {
        let is_same = last.repository == self.repository && last.names() == self.names;
        let left = last.uploads().filter(|_| is_same && !last.is_over());
        left.filter(|tag| **tag != self.temporary && self.names.is_temporary(tag)).cloned().collect()
    }

    /// Compares the manifest and the configuration with the tested image, and records that they are the same. Only then can the
    /// upload be promoted.
    ///
    /// # Errors
    /// [`Error::NotTheTested`]; [`Error::Begun`], if the records hold something to finish or to take back.
    pub fn compare(&self, cx: &Context, registry: &Options, records: &Records) -> Result<Candidate, Error> {
        require_nothing_begun(cx, records, registry)?;
        let mut record = self.begin(records)?;
        let client = Client::new(cx, self.repository.clone(), registry.clone())?;
        let manifest = client.manifest(&self.temporary)?;
        let manifest = manifest.ok_or_else(|| self.other("the manifest", "nothing".to_owned()))?;
        self.check(&manifest)?;
        records.keep(&mut record, &manifest)?;
        let candidate = Candidate { manifest: manifest.digest().clone(), config: manifest.config().cloned() };
        record.candidate = Some(candidate.clone());
        records.begin(&mut record, Step::Compared)?;
        Ok(candidate)
    }

    fn check(&self, manifest: &Manifest) -> Result<(), Error> {
        if !is_image(manifest, &self.tested.id) {
            let found = manifest.config().unwrap_or(manifest.digest());
            return Err(self.other("the configuration", found.to_string()));
        }
        if !self.tested.manifests.contains(manifest.digest()) {
            return Err(self.other("the manifest", manifest.digest().to_string()));
        }
        Ok(())
    }

    fn other(&self, what: &'static str, found: String) -> Error {
        Error::NotTheTested { tag: self.temporary.clone(), what, found, tested: self.tested.id.clone() }
    }
}

/// Whether a manifest is that of an image, by the id that an engine has given to it: the digest of its configuration or, where the
/// engine keeps images as containerd does, of the manifest.
pub(super) fn is_image(manifest: &Manifest, id: &Digest) -> bool {
    manifest.config() == Some(id) || manifest.digest() == id
}
