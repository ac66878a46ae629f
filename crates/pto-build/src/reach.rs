//! Whether somebody else can use a file of ours: setup may run as root for a checkout that another user builds.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use pto_checkout::Owner;

/// Whether a user can read a file, and enter every directory on the way to it. Access lists beyond the mode bits are not
/// looked at.
pub(crate) fn can_read(user: Owner, path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let may = |path: &Path, bit: u32| fs_err::metadata(path).is_ok_and(|meta| has(user, &meta, bit));
    may(&real, 0o4) && real.ancestors().skip(1).all(|dir| may(dir, 0o1))
}

/// Whether a bit of `rwx` is set for a user.
fn has(user: Owner, meta: &Metadata, bit: u32) -> bool {
    let shift = match () {
        () if user.is_root() => return true,
        () if meta.uid() == user.uid => 6,
        () if meta.gid() == user.gid => 3,
        () => 0,
    };
    meta.mode() >> shift & bit != 0
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
        assert!(can_read(owner, &file) && can_read(other, &file));
        mode(dir.path(), 0o700);
        assert!(can_read(owner, &file) && !can_read(other, &file));
        mode(dir.path(), 0o755);
        mode(&file, 0o640);
        assert!(!can_read(other, &file) && can_read(Owner { gid: owner.gid, ..other }, &file));
        assert!(!can_read(other, Path::new("/gone")));
    }
}
