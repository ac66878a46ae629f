//! Files that are there whole or not at all.

use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readable {
    /// Whom the umask lets.
    ByUmask,
    /// The owner alone.
    ByOwner,
}

/// Writes beside the place and renames. What is there and is no regular file (a device, a pipe, a directory) is not
/// replaced, and not waited for; a link is followed, and stays one.
///
/// # Errors
/// It cannot be written; the error names the file, which is as it was.
pub fn write_whole(
    path: &Path,
    readable: Readable,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let named = |error: Error| Error::new(error.kind(), format!("`{}`: {error}", path.display()));
    let place = place(path).map_err(named)?;
    let dir = place.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = if readable == Readable::ByUmask { 0o666 } else { 0o600 };
    let mut draft = tempfile::Builder::new();
    let mut file = draft.permissions(Permissions::from_mode(mode)).tempfile_in(dir).map_err(named)?;
    fill(file.as_file_mut()).map_err(named)?;
    file.persist(&place).map_err(|error| named(error.error))?;
    Ok(())
}

fn place(path: &Path) -> std::io::Result<PathBuf> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => Err(Error::new(ErrorKind::InvalidInput, "not a regular file")),
        Ok(_) => path.canonicalize(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_was_there_stays_if_writing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        write_whole(&path, Readable::ByUmask, |file| file.write_all(b"one")).unwrap();
        let failed =
            write_whole(&path, Readable::ByUmask, |file| file.write_all(b"tw").and(Err(ErrorKind::StorageFull.into())))
                .unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::StorageFull);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed_and_devices_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let [path, link, pipe] = ["x", "link", "pipe"].map(|name| dir.path().join(name));
        fs_err::write(&path, "one").unwrap();
        fs_err::os::unix::fs::symlink(&path, &link).unwrap();
        write_whole(&link, Readable::ByUmask, |file| file.write_all(b"two")).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
        assert!(link.is_symlink());
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(
            write_whole(&pipe, Readable::ByUmask, |_| Ok(())).unwrap_err().to_string().contains("not a regular file")
        );
        assert!(write_whole(dir.path(), Readable::ByOwner, |_| Ok(())).is_err());
    }
}
