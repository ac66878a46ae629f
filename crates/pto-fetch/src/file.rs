//! A single file, named by its sha256 alone, and how it comes into the store: from the disk or over HTTP.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_store::{Entry, Error as StoreError, Store, stop_if_interrupted};

use crate::digest::{self, CHUNK, Sum};
use crate::error::Error;

/// The kind of the entries.
const KIND: &str = "files";

/// Characters of a file's name that its entry is named by.
const MAX_NAME: usize = 120;

/// One file, pinned by its content. Whoever delivers it is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePin {
    /// The name it gets.
    pub file: String,
    /// Its sha256, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

impl FilePin {
    /// The file in the store, if it is there and still what it was. One that is damaged is removed.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find(&self, cx: &Context, store: &Store) -> Result<Option<PathBuf>, Error> {
        let entry = self.entry(store)?;
        let Some(path) = self.in_entry(&entry) else { return Ok(None) };
        if digest::of_file(&path)? == self.sha256 {
            return Ok(Some(path));
        }
        cx.emit(pto_context::Event::Warning {
            message: format!("`{}` has been damaged since it was fetched; it is replaced", path.display()),
        });
        entry.remove(cx)?;
        Ok(None)
    }

    /// Takes a file from the disk into the store. It is summed up while it is copied, so what is in the store afterwards is
    /// the pinned file even if somebody changes the original meanwhile.
    ///
    /// # Errors
    /// [`Error::Checksum`] if it is another file; it is left as it is.
    pub fn adopt(&self, cx: &Context, store: &Store, from: &Path) -> Result<PathBuf, Error> {
        if let Some(path) = self.find(cx, store)? {
            return Ok(path);
        }
        let entry = self.entry(store)?;
        let dir = entry.get_or_build_summed(cx, |dir| {
            self.copy(from, &dir.join(&self.file))?;
            Ok::<_, Error>(self.sums())
        })?;
        Ok(dir.join(&self.file))
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let unreadable = |e| StoreError::io("cannot read the file that was given", e);
        let failed = |e| StoreError::write("cannot write to the store", to.parent().unwrap_or(to), e);
        let mut source = fs_err::File::open(from).map_err(unreadable)?;
        let mut target = fs_err::File::create(to).map_err(failed)?;
        let (mut sum, mut buffer) = (Sum::default(), vec![0; CHUNK]);
        loop {
            stop_if_interrupted()?;
            let n = source.read(&mut buffer).map_err(unreadable)?;
            if n == 0 {
                break;
            }
            sum.update(&buffer[..n]);
            target.write_all(&buffer[..n]).map_err(failed)?;
        }
        let origin = format!("`{}`", from.display());
        self.check(sum.finish(), origin)
    }

    /// What the entry's sums are.
    pub(crate) fn sums(&self) -> BTreeMap<PathBuf, String> {
        BTreeMap::from([(PathBuf::from(&self.file), self.sha256.clone())])
    }

    /// Compares a sum with the pinned one.
    pub(crate) fn check(&self, found: String, origin: String) -> Result<(), Error> {
        if found == self.sha256 {
            return Ok(());
        }
        Err(Error::Checksum { file: self.file.clone(), origin, expected: self.sha256.clone(), found })
    }

    pub(crate) fn entry(&self, store: &Store) -> Result<Entry, Error> {
        Ok(store.entry(KIND, &self.key())?)
    }

    /// The name of its entry: readable, and different for every content and for every name, as who installs a file may read
    /// from its name what it is for.
    pub(crate) fn key(&self) -> String {
        let short = |hex: &str| hex.chars().take(16).collect::<String>();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let plain: String = self.file.trim_start_matches('.').chars().filter(|c| is_plain(*c)).take(MAX_NAME).collect();
        let name = if plain == self.file {
            plain
        } else {
            format!("{plain}-{}", short(&digest::of_bytes(self.file.as_bytes())))
        };
        format!("{name}-{}", short(&self.sha256))
    }

    pub(crate) fn in_entry(&self, entry: &Entry) -> Option<PathBuf> {
        Some(entry.get()?.join(&self.file)).filter(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_named_by_what_they_hold() {
        let key = |file: &str| FilePin { file: file.into(), sha256: "ab".repeat(32) }.key();
        assert_eq!(key("ptoas-0.61-cp310.whl"), "ptoas-0.61-cp310.whl-abababababababab");
        let odd = [key("a+b.whl"), key("ab.whl"), key(".ab.whl"), key(&"x".repeat(300)), key("\u{e4}")];
        for (index, one) in odd.iter().enumerate() {
            assert!(Store::open("/s").entry(KIND, one).is_ok(), "{one}");
            assert!(!odd[..index].contains(one), "{one}");
        }
    }
}
