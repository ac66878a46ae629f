//! Digests of files and trees.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::model::{FileDigest, TreeDigest};
use crate::hex::hex;

/// The digest of a file, kept under the path by which it is recorded.
pub(super) fn file(open: &Path, recorded: PathBuf) -> io::Result<FileDigest> {
    Ok(FileDigest { path: recorded, sha256: hex(&Sha256::digest(fs_err::read(open)?)) })
}

/// One digest over all files below a directory. Links are followed; what is no regular file is left out.
pub(super) fn tree(dir: &Path) -> io::Result<TreeDigest> {
    let mut files = Vec::new();
    walk(dir, Path::new(""), &mut files)?;
    files.sort();
    let mut all = Sha256::new();
    for path in &files {
        let name = path.as_os_str().as_encoded_bytes();
        all.update((name.len() as u64).to_le_bytes());
        all.update(name);
        all.update(Sha256::digest(fs_err::read(dir.join(path))?));
    }
    Ok(TreeDigest { path: dir.to_path_buf(), files: files.len(), sha256: hex(&all.finalize()) })
}

fn walk(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs_err::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &path, files)?;
        } else if kind.is_file() || (kind.is_symlink() && root.join(&path).is_file()) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_its_paths_and_contents() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("a")).unwrap();
        fs_err::write(dir.path().join("a/x"), "1").unwrap();
        fs_err::write(dir.path().join("y"), "2").unwrap();
        let before = tree(dir.path()).unwrap();
        assert_eq!((before.files, &before), (2, &tree(dir.path()).unwrap()));
        fs_err::rename(dir.path().join("y"), dir.path().join("z")).unwrap();
        let renamed = tree(dir.path()).unwrap();
        assert_ne!(before.sha256, renamed.sha256);
        fs_err::write(dir.path().join("a/x"), "3").unwrap();
        assert_ne!(renamed.sha256, tree(dir.path()).unwrap().sha256);
    }
}
