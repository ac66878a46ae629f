//! Unpacks a zip archive into a directory, and refuses what a well-meant one never holds.
//!
//! The checksum comes first, so these rules matter when a pin itself was made from a bad file: a second wall.

mod names;
mod record;
mod wheel;

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fs_err::File;
use pto_store::{Error as StoreError, stop_if_interrupted};
use zip::read::ZipArchive;

use crate::error::{Error, Refusal};
use names::Names;
pub use record::{RecordLine, record};
pub use wheel::{WheelFacts, check_wheel};

type Archive = ZipArchive<File>;

/// The highest size ratio of an entry above [`RATIO_FREE`]. Headers full of repetition reach 60; deflate can do 1032.
const MAX_RATIO: u64 = 250;

/// Entries up to this size are never refused for their ratio: they can do no harm, and empty tables compress well.
const RATIO_FREE: u64 = 1 << 20;

/// What to unpack.
pub(crate) struct Job<'a> {
    /// The archive.
    pub(crate) archive: &'a Path,
    /// How many bytes all its files may have together.
    pub(crate) limit: u64,
    /// Whether a file is wanted, and under which name; gets its name in the archive.
    pub(crate) keep: &'a dyn Fn(&str) -> Option<String>,
}

impl Job<'_> {
    /// Checks the whole archive, then writes the files that are wanted into `target`. Returns how many.
    pub(crate) fn unpack(&self, target: &Path) -> Result<usize, Error> {
        let mut archive = self.open()?;
        self.check(&mut archive)?;
        let mut count = 0;
        for index in 0..archive.len() {
            stop_if_interrupted()?;
            count += usize::from(self.write(&mut archive, index, target)?);
        }
        Ok(count)
    }

    fn open(&self) -> Result<Archive, Error> {
        let open = || File::open(self.archive).map_err(|e| StoreError::io("cannot read the downloaded file", e));
        let archive = ZipArchive::new(open()?).map_err(|e| self.unreadable(e))?;
        if archive.has_duplicate_names() {
            let name = repeated_name(open()?, archive.central_directory_start());
            return Err(self.refuse(name.unwrap_or_else(|| "?".to_owned()), Refusal::Duplicate));
        }
        Ok(archive)
    }

    /// Looks at every entry, wanted or not, before the first byte is written.
    fn check(&self, archive: &mut Archive) -> Result<(), Error> {
        let mut names = Names::default();
        let mut total = 0u64;
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(|e| self.unreadable(e))?;
            let name = entry.name().map_err(|e| self.unreadable(e))?.into_owned();
            let (size, compressed) = (entry.size(), entry.compressed_size());
            total = total.saturating_add(size);
            let refusal = if entry.is_symlink() {
                Some(Refusal::Symlink)
            } else if is_special(entry.unix_mode()) {
                Some(Refusal::Special)
            } else if total > self.limit {
                Some(Refusal::TooLarge { total, limit: self.limit })
            } else if size > RATIO_FREE && size / compressed.max(1) > MAX_RATIO {
                Some(Refusal::Ratio { size, compressed, limit: MAX_RATIO })
            } else {
                names.add(&name).err()
            };
            if let Some(refusal) = refusal {
                return Err(self.refuse(name, refusal));
            }
        }
        Ok(())
    }

    fn write(&self, archive: &mut Archive, index: usize, target: &Path) -> Result<bool, Error> {
        let mut entry = archive.by_index(index).map_err(|e| self.unreadable(e))?;
        let name = entry.name().map_err(|e| self.unreadable(e))?.into_owned();
        let Some(kept) = (self.keep)(&name).filter(|_| !entry.is_dir()) else { return Ok(false) };
        let path = target.join(kept);
        let failed = |source| StoreError::write("cannot unpack into the store", target, source);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(failed)?;
        }
        // Of the mode only "can be run" is taken over: what others may do with the store is the user's umask to say.
        let mode = if entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0) { 0o777 } else { 0o666 };
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let mut file = fs_err::OpenOptions::from_options(options).open(&path).map_err(failed)?;

        let declared = entry.size();
        let mut left = declared;
        let mut buffer = vec![0; 128 * 1024];
        loop {
            // Reading to the end makes the reader compare the entry's CRC.
            let n = entry.read(&mut buffer).map_err(|e| self.unreadable(e.into()))?;
            if count_lies(n, &mut left) {
                return Err(self.refuse(name, Refusal::SizeLies { declared }));
            }
            if n == 0 {
                return Ok(true);
            }
            file.write_all(&buffer[..n]).map_err(failed)?;
        }
    }

    fn file(&self) -> String {
        self.archive.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn unreadable(&self, source: zip::result::ZipError) -> Error {
        Error::Archive { file: self.file(), source }
    }

    fn refuse(&self, entry: String, refusal: Refusal) -> Error {
        Error::Refused { file: self.file(), entry, refusal }
    }
}

/// Takes what was read from what is left; whether it is more than was left, or the end came before.
fn count_lies(read: usize, left: &mut u64) -> bool {
    let lies = read as u64 > *left || (read == 0 && *left > 0);
    *left = left.saturating_sub(read as u64);
    lies
}

/// Whether an entry says that it is neither a file nor a directory: a device, a pipe, a socket.
fn is_special(mode: Option<u32>) -> bool {
    const KIND: u32 = 0o170_000;
    const ORDINARY: [u32; 3] = [0, 0o100_000, 0o040_000];
    mode.is_some_and(|mode| !ORDINARY.contains(&(mode & KIND)))
}

/// The first name that occurs twice in the archive's central directory. The reader keeps one entry per name, so the
/// directory's records are walked here (APPNOTE 4.3.12: 46 bytes, the lengths of name, extra field and comment at 28).
fn repeated_name(mut file: File, start: u64) -> Option<String> {
    const RECORD: &[u8] = b"PK\x01\x02";
    let mut seen = std::collections::HashSet::new();
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut file = std::io::BufReader::new(file);
    loop {
        let mut header = [0; 46];
        file.read_exact(&mut header).ok()?;
        if !header.starts_with(RECORD) {
            return None;
        }
        let length = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let mut name = vec![0; length(28).into()];
        file.read_exact(&mut name).ok()?;
        file.seek_relative(i64::from(length(30)) + i64::from(length(32))).ok()?;
        if !seen.insert(name.clone()) {
            return Some(String::from_utf8_lossy(&name).into_owned());
        }
    }
}

#[cfg(test)]
mod tests;
