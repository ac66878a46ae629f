//! The sums of an entry's files, written beside it when it is built: what shows later whether it is still what it was.
//!
//! The format is that of `sha256sum`, so that it can be checked without this program.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, stop_if_interrupted};

/// What stands behind a key in the name of its sums. No key has a `~` in it.
pub(crate) const SUFFIX: &str = "~sha256";

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// The sums of everything below a directory: for a link, of where it leads.
pub(crate) fn of_dir(dir: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut sums = BTreeMap::new();
    let mut buffer = vec![0; CHUNK];
    collect(dir, Path::new(""), &mut buffer, &mut sums)?;
    Ok(sums)
}

fn collect(dir: &Path, inside: &Path, buffer: &mut [u8], sums: &mut BTreeMap<PathBuf, String>) -> Result<(), Error> {
    let failed = |e| Error::io("cannot read an entry of the store", e);
    for item in fs_err::read_dir(dir).map_err(failed)? {
        let item = item.map_err(failed)?;
        let (path, inside) = (item.path(), inside.join(item.file_name()));
        let kind = item.file_type().map_err(failed)?;
        if kind.is_dir() {
            collect(&path, &inside, buffer, sums)?;
        } else if kind.is_symlink() {
            let target = fs_err::read_link(&path).map_err(failed)?;
            sums.insert(inside, hex(&Sha256::digest(target.as_os_str().as_encoded_bytes())));
        } else {
            sums.insert(inside, of_file(&path, buffer)?);
        }
    }
    Ok(())
}

fn of_file(path: &Path, buffer: &mut [u8]) -> Result<String, Error> {
    let failed = |e| Error::io("cannot read an entry of the store", e);
    let mut file = fs_err::File::open(path).map_err(failed)?;
    let mut sum = Sha256::new();
    loop {
        stop_if_interrupted()?;
        match file.read(buffer).map_err(failed)? {
            0 => return Ok(hex(&sum.finalize())),
            n => sum.update(&buffer[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sums as text. A name that is no UTF-8 or has a line end in it cannot be written, and its file is not looked after.
pub(crate) fn text(sums: &BTreeMap<PathBuf, String>) -> String {
    let line = |(path, sum): (&PathBuf, &String)| {
        let path = path.to_str().filter(|path| !path.contains('\n'))?;
        Some(format!("{sum}  {path}\n"))
    };
    sums.iter().filter_map(line).collect()
}

/// Reads what [`text`] wrote.
pub(crate) fn parse(text: &str) -> BTreeMap<PathBuf, String> {
    let line = |line: &str| line.split_once("  ").map(|(sum, path)| (path.into(), sum.to_owned()));
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_known_program() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("sub")).unwrap();
        fs_err::write(dir.path().join("sub/a b"), "abc").unwrap();
        fs_err::os::unix::fs::symlink("/nowhere", dir.path().join("link")).unwrap();
        let sums = of_dir(dir.path()).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(text(&sums).lines().last(), Some(format!("{abc}  sub/a b").as_str()));
        assert_eq!(parse(&text(&sums)), sums);
    }
}
