//! Keys of the store: a hash over everything that a result depends on.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// Collects what a result depends on. Parts are separated, so that `ab` + `c` and `a` + `bc` differ.
#[derive(Default)]
pub(crate) struct Key(Sha256);

impl Key {
    pub(crate) fn new(what: &str) -> Self {
        Self::default().with(what)
    }

    pub(crate) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    pub(crate) fn path(self, path: &Path) -> Self {
        self.with(path.as_os_str().as_encoded_bytes())
    }

    /// A file that is too large to be read each time, such as a compiler: by its size and time.
    pub(crate) fn file(self, path: &Path) -> io::Result<Self> {
        let meta = fs_err::metadata(path)?;
        let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(self.path(path).with(meta.len().to_le_bytes()).with(modified.as_nanos().to_le_bytes()))
    }

    pub(crate) fn all(self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        let counted = self.with((parts.len() as u64).to_le_bytes());
        parts.into_iter().fold(counted, Self::with)
    }

    /// 32 hexadecimal digits: half of a SHA-256, which is plenty against chance.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize()[..16])
    }
}

/// The SHA-256 of some bytes, in full.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
