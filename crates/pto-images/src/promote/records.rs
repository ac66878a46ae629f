//! The directory in which it is written down what is done: the record of the last thing, and the manifests of before.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::{Readable, files, write_whole};

use super::record::{Entry, Record, Step};
use super::tags::Names;
use crate::document::{self, Form};
use crate::error::Error;
use crate::registry::{Digest, Manifest, Repository};

const FILE: &str = "record.json";
const MANIFESTS: &str = "manifests";
/// What the registry's client takes at most.
const LARGEST_MANIFEST: u64 = 8 << 20;

/// The directory of one publication or rollback. The registry is the truth; this is what it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    dir: PathBuf,
    /// What they have to be about; anything if nothing is said.
    about: Option<About>,
}

/// An image of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct About {
    image: String,
    repository: Repository,
    names: Names,
}

impl About {
    /// What in a record is of something else: what was found, and what was expected. A record is a file like any other, and
    /// decides which tags are moved, and who is told a password.
    fn differs(&self, record: &Record) -> Option<String> {
        let (repository, expected) = (record.repository.to_string(), self.repository.to_string());
        let facts = [
            ("image", &record.image, &self.image),
            ("repository", &repository, &expected),
            ("tag", &record.tag, &self.names.current().to_owned()),
        ];
        let other = facts.into_iter().find(|(_, found, expected)| found != expected);
        let strange = record.uploads().find(|tag| !self.names.is_temporary(tag));
        let other = other.map(|(what, found, expected)| format!("its {what} is `{found}`, expected `{expected}`"));
        other.or_else(|| strange.map(|tag| format!("`{tag}` is no tag of an upload of `{}`", self.names.current())))
    }
}

impl Records {
    /// Those in a directory, which need not exist yet.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), about: None }
    }

    /// The same, of which only records of this image are taken.
    #[must_use]
    pub fn about(self, image: &str, repository: &Repository, names: &Names) -> Self {
        let about = About { image: image.to_owned(), repository: repository.clone(), names: names.clone() };
        Self { about: Some(about), ..self }
    }

    /// Where they are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The record of what was done last.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// What was recorded last; `None` if nothing was.
    ///
    /// # Errors
    /// It cannot be read or is malformed.
    pub fn load(&self) -> Result<Option<Record>, Error> {
        let file = self.file();
        if file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let record: Record = document::load(&file, Form::Record)?;
        match self.about.as_ref().and_then(|about| about.differs(&record)) {
            Some(found) => Err(Error::OtherRecords { file, found }),
            None => Ok(Some(record)),
        }
    }

    /// As [`load`](Self::load), where there has to be something.
    ///
    /// # Errors
    /// There is nothing, or it cannot be read.
    pub fn require(&self) -> Result<Record, Error> {
        self.load()?.ok_or_else(|| Error::NoRecords { dir: self.dir.clone() })
    }

    /// Writes down that a step is about to be taken.
    pub(crate) fn begin(&self, record: &mut Record, step: Step) -> Result<(), Error> {
        let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        record.steps.push(Entry { step, at });
        self.save(record)
    }

    pub(crate) fn save(&self, record: &Record) -> Result<(), Error> {
        document::save(&self.file(), Form::Record, record)
    }

    /// Keeps the record under a number, `record-1.json`, so that another one can be begun. Manifests stay: their names are their
    /// digests. Nothing is written over.
    pub(crate) fn set_aside(&self) -> Result<(), Error> {
        let failed = "keep the records of a publication aside";
        let mut numbered = (1_u32..).map(|number| self.dir.join(format!("record-{number}.json")));
        let free = numbered.find(|file| !file.exists());
        let free = free.ok_or_else(|| Error::io(failed)(std::io::ErrorKind::StorageFull.into()))?;
        fs_err::rename(self.file(), free).map_err(Error::io(failed))
    }

    /// Keeps a manifest's bytes: a registry may forget what no tag leads to.
    pub(crate) fn keep(&self, record: &mut Record, manifest: &Manifest) -> Result<(), Error> {
        let failed = "keep a manifest";
        let file = self.manifest_file(manifest.digest());
        fs_err::create_dir_all(self.dir.join(MANIFESTS)).map_err(Error::io(failed))?;
        let write = |file: &mut std::fs::File| file.write_all(manifest.bytes()).and_then(|()| file.sync_all());
        write_whole(&file, Readable::ByUmask, write).map_err(Error::io(failed))?;
        record.media_types.insert(manifest.digest().clone(), manifest.media_type().to_owned());
        Ok(())
    }

    /// A manifest that was kept.
    ///
    /// # Errors
    /// It was not, or is no longer what it was.
    pub fn kept(&self, record: &Record, digest: &Digest) -> Result<Manifest, Error> {
        let file = self.manifest_file(digest);
        let unread = |source| Error::Unread { file: file.clone(), source };
        let bytes = files::bytes(&file, LARGEST_MANIFEST).map_err(unread)?;
        let media_type = record.media_types.get(digest).map(String::as_str).unwrap_or_default();
        let spoilt = |problem: String| Error::Document { file: file.clone(), form: Form::Record, problem };
        let manifest = Manifest::new(bytes, media_type).map_err(|problem| spoilt(problem.to_string()))?;
        if manifest.digest() == digest {
            Ok(manifest)
        } else {
            Err(spoilt(format!("its digest is {}", manifest.digest())))
        }
    }

    fn manifest_file(&self, digest: &Digest) -> PathBuf {
        self.dir.join(MANIFESTS).join(format!("sha256-{}.json", digest.hex()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promote::Kind;

    #[test]
    fn records_come_back_as_they_went() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::in_dir(dir.path().join("new"));
        assert_eq!(records.load().unwrap(), None);
        assert!(matches!(records.require(), Err(Error::NoRecords { .. })));
        let repository = "h.example/a".parse().unwrap();
        let mut record = Record::new(Kind::Promotion, "arm", &repository, &Names::new("t"));
        let text = format!(r#"{{"config":{{"digest":"{}"}}}}"#, Digest::of(b"c"));
        let manifest = Manifest::new(text.into_bytes(), "application/vnd.oci.image.manifest.v1+json").unwrap();
        records.keep(&mut record, &manifest).unwrap();
        records.begin(&mut record, Step::MovePrevious).unwrap();
        assert_eq!(records.require().unwrap(), record);
        assert_eq!(records.kept(&record, manifest.digest()).unwrap(), manifest);

        fs_err::write(records.manifest_file(manifest.digest()), &manifest.bytes()[1..]).unwrap();
        assert!(matches!(records.kept(&record, manifest.digest()), Err(Error::Document { .. })));
        fs_err::write(dir.path().join("new/record.json"), "{}").unwrap();
        assert!(matches!(records.load(), Err(Error::Document { .. })));
    }
}
