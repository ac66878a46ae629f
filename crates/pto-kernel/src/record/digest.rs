//! Digests of files and trees.

use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::model::{FileDigest, TreeDigest};
use crate::hex::hex;
use crate::read;

/// The digest of a file, kept under the path by which it is recorded.
pub(super) fn file(open: &Path, recorded: PathBuf) -> io::Result<FileDigest> {
    Ok(FileDigest { path: recorded, sha256: hex(&contents(open)?) })
}

/// Piece by piece: a library can be large. What is no regular file may have no end.
fn contents(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = io::BufReader::with_capacity(1 << 16, read::open(path)?);
    let mut hash = Sha256::new();
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(hash.finalize().into());
        }
        hash.update(piece);
        let length = piece.len();
        file.consume(length);
    }
}

/// One digest over all files below a directory. Links are followed; what is no regular file is left out.
pub(super) fn tree(dir: &Path) -> io::Result<TreeDigest> {
    let mut files = Vec::new();
    walk(dir, Path::new(""), usize::MAX, &mut files)?;
    digest_of(dir, files)
}

/// The digest of a tree that had so many files; `None` if it has not. A record can name any directory: no more of it is
/// read than that.
pub(super) fn tree_of(dir: &Path, count: usize) -> io::Result<Option<TreeDigest>> {
    let mut files = Vec::new();
    walk(dir, Path::new(""), count.saturating_add(1), &mut files)?;
    if files.len() == count { digest_of(dir, files).map(Some) } else { Ok(None) }
}

fn digest_of(dir: &Path, mut files: Vec<PathBuf>) -> io::Result<TreeDigest> {
    files.sort();
    let mut all = Sha256::new();
    for path in &files {
        let name = path.as_os_str().as_encoded_bytes();
        all.update((name.len() as u64).to_le_bytes());
        all.update(name);
        all.update(contents(&dir.join(path))?);
    }
    Ok(TreeDigest { path: dir.to_path_buf(), files: files.len(), sha256: hex(&all.finalize()) })
}

fn walk(root: &Path, below: &Path, most: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs_err::read_dir(root.join(below))? {
        if files.len() >= most {
            break;
        }
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &path, most, files)?;
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
        let now = tree(dir.path()).unwrap();
        assert_ne!(renamed.sha256, now.sha256);
        assert_eq!(tree_of(dir.path(), 2).unwrap(), Some(now));
        assert_eq!(tree_of(dir.path(), 1).unwrap(), None);
        assert_eq!(tree_of(dir.path(), 3).unwrap(), None);
    }
}
