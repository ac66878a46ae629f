//! Reading files that a user wrote: text of a size that people write.

use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

/// Far above any manifest or kernel source, far below what hurts.
const MAX_BYTES: u64 = 64 << 20;

/// The bytes of a regular file. A pipe would block for good, and a device may have no end.
pub(crate) fn regular(path: &Path) -> std::io::Result<Vec<u8>> {
    let refuse = |why: String| Error::new(ErrorKind::InvalidInput, format!("`{}` {why}", path.display()));
    // What is not there is said in plainer words by opening it.
    if !std::fs::metadata(path).or_else(|_| fs_err::File::open(path)?.metadata())?.is_file() {
        return Err(refuse("is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn text(path: &Path) -> std::io::Result<String> {
    let not_text = |error: std::string::FromUtf8Error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("`{}` is not UTF-8 at byte {at}", path.display()))
    };
    String::from_utf8(regular(path)?).map_err(not_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        assert!(regular(Path::new("/dev/zero")).unwrap_err().to_string().contains("is not a regular file"));
        let dir = tempfile::tempdir().unwrap();
        assert!(regular(dir.path()).unwrap_err().to_string().contains("is not a regular file"));
    }

    #[test]
    fn what_is_no_text_says_where() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        fs_err::write(&path, b"ab\xff").unwrap();
        assert!(text(&path).unwrap_err().to_string().contains("is not UTF-8 at byte 2"));
    }
}
