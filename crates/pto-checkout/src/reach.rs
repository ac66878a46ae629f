//! Whether another user can use a file of ours: root sets up, and looks, for a checkout that somebody else builds.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::owner::Owner;

impl Owner {
    /// Whether this user can read a file, and enter every directory on the way to it. Access lists beyond the mode bits are
    /// not looked at.
    pub fn can_read(self, path: &Path) -> bool {
        self.has_all(path, 0o4)
    }

    /// Whether this user can make files in a directory, and enter it and every one on the way to it.
    pub(crate) fn can_write_in(self, dir: &Path) -> bool {
        self.has_all(dir, 0o3)
    }

    fn has_all(self, path: &Path, bits: u32) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        let may = |path: &Path, bits: u32| fs_err::metadata(path).is_ok_and(|meta| has(self, &meta, bits));
        may(&real, bits) && real.ancestors().skip(1).all(|dir| may(dir, 0o1))
    }
}

/// Whether these of `rwx` are set for a user.
fn has(user: Owner, meta: &Metadata, bits: u32) -> bool {
    let shift = match () {
        () if user.is_root() => return true,
        () if meta.uid() == user.uid => 6,
        () if meta.gid() == user.gid => 3,
        () => 0,
    };
    meta.mode() >> shift & bits == bits
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
        let owner = Owner::of(&file).unwrap();
        let other = Owner { uid: 4_000_001, gid: 4_000_001 };
        mode(dir.path(), 0o755);
        mode(&file, 0o644);
        assert!(owner.can_read(&file) && other.can_read(&file));
        mode(dir.path(), 0o700);
        assert!(owner.can_read(&file) && !other.can_read(&file));
        mode(dir.path(), 0o755);
        mode(&file, 0o640);
        assert!(!other.can_read(&file) && Owner { gid: owner.gid, ..other }.can_read(&file));
        assert!(
            !other.can_read(Path::new("/gone")) && owner.can_write_in(dir.path()) && !other.can_write_in(dir.path())
        );
    }
}
