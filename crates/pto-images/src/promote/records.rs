//! The directory of records: the record of the last promotion or rollback, earlier ones, and the manifests they name.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::{Readable, files, write_whole};

use super::names::Names;
use super::record::{Entry, Kind, Record, Step};
use crate::document::{self, Form};
use crate::error::Error;
use crate::registry::{Digest, Manifest, Repository};

const FILE: &str = "record.json";
const MANIFESTS: &str = "manifests";

/// The directory of one image's publications or rollbacks. The registry is the truth; records are what it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    dir: PathBuf,
    /// The image that a record has to be about; `None` for any.
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
    /// How a record is about another image, if it is: what was found and what was expected. A record decides which tags are moved
    /// and which registry gets the password, and anybody may have written it. One that moves nothing more may be `of_any_tag`: the
    /// configuration gives an image another tag where its base changes.
    fn differs(&self, record: &Record, of_any_tag: bool) -> Option<String> {
        let (repository, expected) = (record.repository.to_string(), self.repository.to_string());
        let facts = [
            ("image", &record.image, &self.image),
            ("repository", &repository, &expected),
            ("tag", &record.tag, &self.names.current().to_owned()),
        ];
        let is_settled = of_any_tag && record.outcome().is_some();
        let counts = |what: &str| what != "tag" || !is_settled;
        let other = facts.into_iter().find(|(what, found, expected)| counts(what) && found != expected);
        let names = if is_settled { record.names() } else { self.names.clone() };
        let strange = record.uploads().find(|tag| !names.is_temporary(tag));
        let other = other.map(|(what, found, expected)| format!("its {what} is `{found}`, expected `{expected}`"));
        other
            .or_else(|| strange.map(|tag| format!("`{tag}` is not the tag of an upload of `{}`", self.names.current())))
    }
}

impl Records {
    /// The records in a directory, which need not exist yet.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), about: None }
    }

    /// The same, with records of other images refused.
    #[must_use]
    pub fn about(self, image: &str, repository: &Repository, names: &Names) -> Self {
        let about = About { image: image.to_owned(), repository: repository.clone(), names: names.clone() };
        Self { about: Some(about), ..self }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The error that they hold something which was begun and has to be ended first.
    pub(crate) fn begun(&self, kind: Kind) -> Error {
        Error::Begun { dir: self.dir.clone(), kind }
    }

    /// The file of the last record.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// The last record; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read or is malformed.
    pub fn load(&self) -> Result<Option<Record>, Error> {
        self.read(false)
    }

    /// The last record, perhaps of another tag of the image if it moves nothing more.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn last(&self) -> Result<Option<Record>, Error> {
        self.read(true)
    }

    fn read(&self, of_any_tag: bool) -> Result<Option<Record>, Error> {
        let file = self.file();
        if file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let record: Record = document::load(&file, Form::Record)?;
        match self.about.as_ref().and_then(|about| about.differs(&record, of_any_tag)) {
            Some(found) => Err(Error::OtherRecords { file, found }),
            None => Ok(Some(record)),
        }
    }

    /// As [`load`](Self::load), where there has to be one.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn require(&self) -> Result<Record, Error> {
        self.load()?.ok_or_else(|| Error::NoRecords { dir: self.dir.clone() })
    }

    /// Records that a step is about to be taken.
    pub(crate) fn begin(&self, record: &mut Record, step: Step) -> Result<(), Error> {
        let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        record.steps.push(Entry { step, at });
        self.save(record)
    }

    pub(crate) fn save(&self, record: &Record) -> Result<(), Error> {
        document::save(&self.file(), Form::Record, record)
    }

    /// Renames the record to the next free number, `record-1.json`, so that another one can be begun. Manifests are named by
    /// digest and stay.
    pub(crate) fn set_aside(&self) -> Result<(), Error> {
        let failed = "keep the records of a publication aside";
        let mut numbered = (1_u32..).map(|number| self.dir.join(format!("record-{number}.json")));
        let free = numbered.find(|file| !file.exists());
        let free = free.ok_or_else(|| Error::io(failed)(std::io::ErrorKind::StorageFull.into()))?;
        fs_err::rename(self.file(), free).map_err(Error::io(failed))
    }

    /// Saves a manifest's bytes: a registry may delete a manifest that no tag leads to.
    pub(crate) fn keep(&self, record: &mut Record, manifest: &Manifest) -> Result<(), Error> {
        let failed = "keep a manifest";
        let file = self.manifest_file(manifest.digest());
        fs_err::create_dir_all(self.dir.join(MANIFESTS)).map_err(Error::io(failed))?;
        let write = |file: &mut std::fs::File| file.write_all(manifest.bytes()).and_then(|()| file.sync_all());
        write_whole(&file, Readable::ByUmask, write).map_err(Error::io(failed))?;
        record.media_types.insert(manifest.digest().clone(), manifest.media_type().to_owned());
        Ok(())
    }

    /// A manifest that was saved.
    ///
    /// # Errors
    /// It was not, or its file was changed.
    pub fn kept(&self, record: &Record, digest: &Digest) -> Result<Manifest, Error> {
        let file = self.manifest_file(digest);
        let unread = |source| Error::Unread { file: file.clone(), form: Form::Record, source };
        let bytes = files::bytes(&file, Manifest::LARGEST).map_err(unread)?;
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
