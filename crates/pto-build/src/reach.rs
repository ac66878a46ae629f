//! Whether somebody else can use a file of ours: setup may run as root for a checkout that another user builds.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Numeric ids of a user. There need not be an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl User {
    /// Who owns a file.
    pub fn owner_of(path: &Path) -> Option<Self> {
        fs_err::metadata(path).ok().map(|meta| Self { uid: meta.uid(), gid: meta.gid() })
    }

    /// Whether the file can be read, and every directory on the way to it be entered. Access lists beyond the mode bits
    /// are not looked at.
    pub fn can_read(self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        let may = |path: &Path, bit: u32| fs_err::metadata(path).is_ok_and(|meta| self.has(&meta, bit));
        may(&real, 0o4) && real.ancestors().skip(1).all(|dir| may(dir, 0o1))
    }

    /// Whether a bit of `rwx` is set for this user.
    fn has(self, meta: &Metadata, bit: u32) -> bool {
        let shift = match () {
            () if self.uid == 0 => return true,
            () if meta.uid() == self.uid => 6,
            () if meta.gid() == self.gid => 3,
            () => 0,
        };
        meta.mode() >> shift & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_closed_directory_on_the_way_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs_err::write(&file, "").unwrap();
        let mode = |path: &Path, mode| fs_err::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let owner = User::owner_of(&file).unwrap();
        let other = User { uid: 4_000_001, gid: 4_000_001 };
        mode(dir.path(), 0o755);
        mode(&file, 0o644);
        assert!(owner.can_read(&file) && other.can_read(&file));
        mode(dir.path(), 0o700);
        assert!(owner.can_read(&file) && !other.can_read(&file));
        mode(dir.path(), 0o755);
        mode(&file, 0o640);
        assert!(!other.can_read(&file) && User { gid: owner.gid, ..other }.can_read(&file));
        assert!(!other.can_read(Path::new("/gone")));
    }
}
