//! sha256 of a file.

use std::io::Read;
use std::path::Path;

use pto_store::{Error, stop_if_interrupted};
use sha2::{Digest, Sha256};

/// How much is read at once.
pub(crate) const CHUNK: usize = 256 * 1024;

/// A file's sha256 in lower-case hexadecimal.
///
/// # Errors
/// It cannot be read, or the user asked for the end.
pub fn of_file(path: &Path) -> Result<String, Error> {
    Ok(hex(&sum_of_file(path)?))
}

/// The same as bytes.
pub(crate) fn sum_of_file(path: &Path) -> Result<[u8; 32], Error> {
    let mut sum = Sum::default();
    feed_file(path, &mut sum)?;
    Ok(sum.0.finalize().into())
}

/// Adds a file's bytes to a sum.
pub(crate) fn feed_file(path: &Path, sum: &mut Sum) -> Result<(), Error> {
    let mut file = fs_err::File::open(path).map_err(|e| Error::io("cannot read the downloaded file", e))?;
    let mut buffer = vec![0; CHUNK];
    loop {
        stop_if_interrupted()?;
        match file.read(&mut buffer).map_err(|e| Error::io("cannot read the downloaded file", e))? {
            0 => return Ok(()),
            n => sum.update(&buffer[..n]),
        }
    }
}

/// A sum under way.
#[derive(Default)]
pub(crate) struct Sum(Sha256);

impl Sum {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// In lower-case hexadecimal.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(super::of_bytes(b""), known);
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(super::of_file(file.path()).unwrap(), known);
    }
}
