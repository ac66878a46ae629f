//! Keys of the store: a hash over everything that a result depends on.

use std::path::Path;

use sha2::{Digest, Sha256};

/// Collects what a result depends on. Parts are separated, so that `ab` + `c` and `a` + `bc` differ.
#[derive(Default)]
pub(super) struct Key(Sha256);

impl Key {
    pub(super) fn new(what: &str) -> Self {
        Self::default().with(what)
    }

    pub(super) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    pub(super) fn path(self, path: &Path) -> Self {
        self.with(path.as_os_str().as_encoded_bytes())
    }

    pub(super) fn all(self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        let counted = self.with((parts.len() as u64).to_le_bytes());
        parts.into_iter().fold(counted, Self::with)
    }

    /// 32 hexadecimal digits: half of a SHA-256, which is plenty against chance.
    pub(super) fn finish(self) -> String {
        hex(&self.0.finalize()[..16])
    }
}

/// The SHA-256 of some bytes, in full.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
