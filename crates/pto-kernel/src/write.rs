//! Writes files whole or not at all: those that people go on to edit, never over one that exists unless told so, and those
//! that somebody may be reading while they are replaced.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::KernelError;

/// Writes a text file. Without `force` an existing file is an error, even one made at this very moment.
pub(crate) fn file(path: &Path, text: &str, force: bool) -> Result<(), KernelError> {
    let refuse = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => KernelError::Exists { path: path.to_path_buf() },
        _ => KernelError::Write { path: path.to_path_buf(), source },
    };
    let draft = draft(path, text.as_bytes()).map_err(refuse)?;
    let kept = if force { draft.persist(path) } else { draft.persist_noclobber(path) };
    kept.map(drop).map_err(|error| refuse(error.error))
}

/// Writes a file in the place of one that may be there.
pub(crate) fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = draft(path, bytes).and_then(|draft| draft.persist(path).map(drop).map_err(|error| error.error));
    written.map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))
}

/// The contents beside their place, under a hidden name, to be renamed.
fn draft(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Temporary files are private; this one is to be an ordinary file, as far as the umask allows.
    let ordinary = Permissions::from_mode(0o666);
    let mut draft = tempfile::Builder::new().permissions(ordinary).tempfile_in(dir)?;
    draft.write_all(bytes)?;
    Ok(draft)
}
