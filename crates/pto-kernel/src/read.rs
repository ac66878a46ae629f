//! Reading files that a user wrote: text of a size that people write.

use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use pto_context::files;

/// Far above any manifest or kernel source, far below what hurts.
const MAX_BYTES: u64 = 64 << 20;

/// The bytes of a regular file. A pipe would block for good, and a device may have no end.
pub(crate) fn regular(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let why = format!("`{}` is larger than {} MiB", path.display(), MAX_BYTES >> 20);
        return Err(Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(bytes)
}

/// Opens a regular file, of any size.
pub(crate) fn open(path: &Path) -> std::io::Result<fs_err::File> {
    let file = files::open_regular(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::Other => {
            Error::new(ErrorKind::InvalidInput, format!("`{}` is not a regular file", path.display()))
        }
        kind => Error::new(kind, format!("failed to open file `{}`: {error}", path.display())),
    })?;
    Ok(fs_err::File::from_parts(file, path))
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
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(regular(&pipe).unwrap_err().to_string().contains("is not a regular file"));
        fs_err::File::create(dir.path().join("huge")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(regular(&dir.path().join("huge")).unwrap_err().to_string().contains("is larger than 64 MiB"));
    }

    #[test]
    fn what_is_no_text_says_where() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        fs_err::write(&path, b"ab\xff").unwrap();
        assert!(text(&path).unwrap_err().to_string().contains("is not UTF-8 at byte 2"));
    }
}
