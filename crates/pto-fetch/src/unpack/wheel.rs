//! A whole wheel, looked at before anybody else unpacks it.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pto_store::stop_if_interrupted;
use sha2::{Digest, Sha256};
use zip::read::ZipArchive;

use super::record::{RecordLine, record};
use super::{Archive, Job, count_lies};
use crate::digest::{self, CHUNK};
use crate::error::{Error, Refusal};

/// What a wheel may unpack to when no pin says less. The assembler's has 0.3 GB.
const MAX_UNPACKED: u64 = 4 << 30;

/// Threads that sum up entries: inflating and hashing keeps a core busy, and more than these wait for the disk.
const MAX_THREADS: usize = 4;

/// A wheel whose directory has nothing in it that must not be unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelFacts {
    /// The sizes of all files, added up.
    pub unpacked_size: u64,
    /// How many files there are.
    pub files: usize,
    /// The `RECORD`, by path.
    record: HashMap<String, RecordLine>,
}

/// Looks at every entry of a wheel, without unpacking any but its `RECORD`: names, kinds, sizes, and whether the files in
/// the archive are exactly those recorded.
///
/// # Errors
/// [`Error::Refused`] with the first entry that is wrong, [`Error::Archive`].
pub fn check_wheel(path: &Path) -> Result<WheelFacts, Error> {
    let everything = |name: &str| Some(name.to_owned());
    let job = Job { archive: path, limit: MAX_UNPACKED, keep: &everything };
    let mut archive = job.open()?;
    job.check(&mut archive)?;
    let mut files = HashMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|e| job.unreadable(e))?;
        if !entry.is_dir() {
            let name = entry.name().map_err(|e| job.unreadable(e))?.into_owned();
            files.insert(name, entry.size());
        }
    }
    let record = read_record(&job, &mut archive, &files)?;
    for (name, size) in &files {
        let refuse = |refusal| Err(job.refuse(name.clone(), refusal));
        match record.get(name) {
            _ if is_signature(name) => {}
            None => return refuse(Refusal::NotRecorded),
            Some(line) if line.size.is_some_and(|recorded| recorded != *size) => {
                return refuse(Refusal::RecordedSize { recorded: line.size.unwrap_or_default(), size: *size });
            }
            Some(_) => {}
        }
    }
    if let Some(missing) = record.keys().find(|name| !files.contains_key(*name)) {
        return Err(job.refuse(missing.clone(), Refusal::OnlyRecorded));
    }
    Ok(WheelFacts { unpacked_size: files.values().sum(), files: files.len(), record })
}

impl WheelFacts {
    /// Compares the sum of every file with the recorded one: of the file in one of the directories that the wheel was
    /// installed into, where it is there, which saves unpacking it once more; else of the entry, unpacked into nothing. On
    /// several threads, with memory that does not depend on the wheel's size.
    ///
    /// # Errors
    /// [`Error::Refused`] with an entry that is another one than recorded, [`Error::Archive`].
    pub fn verify(&self, path: &Path, installed: &[PathBuf]) -> Result<(), Error> {
        let everything = |name: &str| Some(name.to_owned());
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), Error> {
            let job = Job { archive: path, limit: MAX_UNPACKED, keep: &everything };
            let mut archive = job.open()?;
            let mut buffer = vec![0; CHUNK];
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= archive.len() {
                    return Ok(());
                }
                self.verify_entry(&job, &mut archive, index, installed, &mut buffer)?;
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut result = work();
            for other in others {
                // A thread that panicked has verified nothing.
                let one = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(one);
            }
            result
        })
    }

    fn verify_entry(
        &self,
        job: &Job,
        archive: &mut Archive,
        index: usize,
        installed: &[PathBuf],
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let mut entry = archive.by_index(index).map_err(|e| job.unreadable(e))?;
        let name = entry.name().map_err(|e| job.unreadable(e))?.into_owned();
        let Some(expected) = self.record.get(&name).and_then(|line| line.sha256.as_ref()) else { return Ok(()) };
        let file = installed.iter().map(|dir| dir.join(&name)).find(|file| file.is_file());
        // What lies in `*.data` is installed elsewhere, and scripts in it are rewritten.
        if let Some(file) = file.filter(|_| !name.split('/').next().unwrap_or_default().ends_with(".data")) {
            let found = URL_SAFE_NO_PAD.encode(digest::sum_of_file(&file)?);
            return if found == *expected {
                Ok(())
            } else {
                Err(job.refuse(name, Refusal::RecordedSum { recorded: expected.clone(), found }))
            };
        }
        let (mut sum, declared, mut left) = (Sha256::new(), entry.size(), entry.size());
        loop {
            stop_if_interrupted()?;
            let n = entry.read(buffer).map_err(|e| job.unreadable(e.into()))?;
            if count_lies(n, &mut left) {
                return Err(job.refuse(name, Refusal::SizeLies { declared }));
            }
            if n == 0 {
                break;
            }
            sum.update(&buffer[..n]);
        }
        let found = URL_SAFE_NO_PAD.encode(sum.finalize());
        if found == *expected {
            return Ok(());
        }
        Err(job.refuse(name, Refusal::RecordedSum { recorded: expected.clone(), found }))
    }
}

/// The wheel's `RECORD`, by path.
fn read_record(
    job: &Job,
    archive: &mut ZipArchive<fs_err::File>,
    files: &HashMap<String, u64>,
) -> Result<HashMap<String, RecordLine>, Error> {
    /// Far more than any package has files: the text is held in memory.
    const MAX_RECORD: u64 = 64 << 20;
    let is_record = |name: &&String| {
        let mut parts = name.split('/');
        matches!((parts.next(), parts.next(), parts.next()), (Some(dir), Some("RECORD"), None) if dir.ends_with(".dist-info"))
    };
    let mut found = files.keys().filter(is_record);
    let (Some(name), None) = (found.next(), found.next()) else {
        return Err(job.refuse("*.dist-info/RECORD".to_owned(), Refusal::NoRecord));
    };
    let mut text = String::new();
    let entry = archive.by_name(name).map_err(|e| job.unreadable(e))?;
    entry.take(MAX_RECORD).read_to_string(&mut text).map_err(|e| job.unreadable(e.into()))?;
    let mut lines = HashMap::new();
    for line in record(&text) {
        // A signature's line may be there or not, as its file may.
        if line.sha256.is_none() && !is_signature(&line.path) {
            return Err(job.refuse(line.path, Refusal::NoSum));
        }
        if let Some(twice) = lines.insert(line.path.clone(), line) {
            return Err(job.refuse(twice.path, Refusal::Duplicate));
        }
    }
    lines.retain(|name, _| !is_signature(name) || files.contains_key(name));
    Ok(lines)
}

/// `RECORD` cannot hold its own sum, nor that of what signs it.
fn is_signature(name: &str) -> bool {
    ["RECORD", "RECORD.jws", "RECORD.p7s"].iter().any(|file| name.ends_with(&format!(".dist-info/{file}")))
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
