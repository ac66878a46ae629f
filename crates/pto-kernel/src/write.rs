//! Writes files that people go on to edit: never over one that exists, unless told so, and never half.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::KernelError;

/// Writes a text file. Without `force` an existing file is an error, even one made at this very moment.
pub(crate) fn file(path: &Path, text: &str, force: bool) -> Result<(), KernelError> {
    let refuse = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => KernelError::Exists { path: path.to_path_buf() },
        _ => KernelError::Write { path: path.to_path_buf(), source },
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Temporary files are private; this one is to be an ordinary file, as far as the umask allows.
    let ordinary = Permissions::from_mode(0o666);
    let mut draft = tempfile::Builder::new().permissions(ordinary).tempfile_in(dir).map_err(refuse)?;
    draft.write_all(text.as_bytes()).map_err(refuse)?;
    let kept = if force { draft.persist(path) } else { draft.persist_noclobber(path) };
    kept.map(drop).map_err(|error| refuse(error.error))
}
