//! The directory of all records of a workspace.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_store::Lock;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::markdown;
use super::model::Record;
use crate::hex::hex;
use crate::write;

/// Writing a few hundred records takes well below a second.
const LONGEST_TURN: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// A directory of records, with a Markdown log of them all.
#[derive(Debug, Clone)]
pub struct Logbook {
    dir: PathBuf,
}

/// A record and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub record: Record,
}

/// All that is in a logbook.
#[derive(Debug, Default)]
pub struct Contents {
    /// The records, by file name.
    pub entries: Vec<Entry>,
    /// What is no record, and why: a damaged file, or one of another version of these tools.
    pub unreadable: Vec<Unreadable>,
}

/// A file that is no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Why it is none.
    pub message: String,
}

impl Logbook {
    /// The Markdown log.
    pub const LOG: &'static str = "LOG.md";

    /// The records in this directory, which need not be there yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The Markdown log of all records, which need not be there yet.
    pub fn log(&self) -> PathBuf {
        self.dir.join(Self::LOG)
    }

    /// Adds records, each in the place of the one of the same name, and writes the log anew, of all that can be read. Each
    /// file is there whole or as it was. One that cannot be written keeps none of the others from it.
    ///
    /// # Errors
    /// A file cannot be written; the first of them.
    pub fn save(&self, records: &[Record]) -> io::Result<Vec<PathBuf>> {
        fs_err::create_dir_all(&self.dir)?;
        let _turn = self.turn();
        let written: Vec<io::Result<PathBuf>> = records.iter().map(|record| self.add(record)).collect();
        let log = markdown::log(&self.contents()?.entries);
        write::whole(&self.log(), log.as_bytes())?;
        written.into_iter().collect()
    }

    fn add(&self, record: &Record) -> io::Result<PathBuf> {
        let path = self.place(record, &record.file_name());
        write::whole(&path, &serde_json::to_vec_pretty(record)?)?;
        if let Some(old) = record.superseded() {
            remove(&self.place(record, &old))?;
        }
        Ok(path)
    }

    /// One process at a time: whoever lists the records must not write the log after somebody who has listed more. Only for
    /// a while, since records are worth more than their log.
    fn turn(&self) -> Option<Lock> {
        let start = Instant::now();
        while start.elapsed() < LONGEST_TURN {
            match Lock::try_acquire(&self.dir.join(".lock")) {
                Ok(None) => std::thread::sleep(POLL),
                turn => return turn.ok().flatten(),
            }
        }
        None
    }

    /// The file of a record. Of two kernels that have one name, the later one's file has a digest of its manifest's path.
    fn place(&self, record: &Record, name: &str) -> PathBuf {
        let usual = self.dir.join(name);
        let is_anothers = |other: Record| other.manifest != record.manifest && other.manifest.exists();
        if !read(&usual).is_ok_and(is_anothers) {
            return usual;
        }
        let digest = hex(&Sha256::digest(record.manifest.as_os_str().as_encoded_bytes()));
        self.dir.join(format!("{}-{}.json", name.trim_end_matches(".json"), &digest[..8]))
    }

    /// Reads all records.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn contents(&self) -> io::Result<Contents> {
        let listing = match fs_err::read_dir(&self.dir) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::default()),
            Err(error) => return Err(error),
        };
        let mut paths = listing.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json") && !hidden(path));
        paths.sort();
        let mut contents = Contents::default();
        for path in paths {
            match read(&path) {
                Ok(record) => contents.entries.push(Entry { path, record }),
                Err(error) => contents.unreadable.push(Unreadable { message: error.to_string(), path }),
            }
        }
        Ok(contents)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What every record says, of whatever version.
#[derive(Deserialize)]
struct Form {
    schema: String,
}

/// Anybody may have put the file here: no pipe is waited for, and no more is read than a record can have. Its schema is asked
/// first, since a record of newer tools may lack what is looked for here, or have it in another form.
fn read(path: &Path) -> io::Result<Record> {
    let refuse =
        |why: String| io::Error::new(ErrorKind::InvalidData, format!("`{}` is no record: {why}", path.display()));
    let bytes = crate::read::regular(path)?;
    let form: Form = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
    if form.schema != Record::SCHEMA {
        return Err(refuse(format!("its schema is `{:.80}`, expected `{}`", form.schema, Record::SCHEMA)));
    }
    serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))
}
