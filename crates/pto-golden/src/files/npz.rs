//! `.npz`: a zip archive of `.npy` files. What is stored is read in place, what is deflated is inflated.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::storage::Storage;
use crate::{DType, Error, Tensor, npy};

pub(super) fn read(path: &Path, declared: Option<DType>) -> Result<BTreeMap<String, Tensor>, Error> {
    let bytes = Storage::map(path)?;
    members(&bytes, declared).map_err(|error| error.in_file(path))
}

fn members(bytes: &Storage, declared: Option<DType>) -> Result<BTreeMap<String, Tensor>, Error> {
    let mut archive = ZipArchive::new(Cursor::new(&**bytes)).map_err(|error| refused(0, "", &error))?;
    // The archive's reader keeps the last of them, and nobody knows which one was meant.
    if archive.has_duplicate_names() {
        let directory = usize::try_from(archive.central_directory_start()).unwrap_or(0);
        return Err(Error::malformed(directory, "two members have the same name, expected each name once"));
    }
    let mut tensors = BTreeMap::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(|error| refused(0, &format!("member {index}"), &error))?;
        let file = member.name().map_err(|error| refused(0, &format!("member {index}"), &error))?.into_owned();
        let start = member.data_start().and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
        let Some(name) = file.strip_suffix(".npy") else {
            return Err(Error::malformed(start, format!("member `{}` is no .npy file", file.escape_debug())));
        };
        let size = usize::try_from(member.size()).ok().filter(|size| isize::try_from(*size).is_ok());
        let size = size.ok_or_else(|| Error::malformed(start, format!("member `{name}` is too large")))?;
        let data = match (member.compression(), start.checked_add(size)) {
            (CompressionMethod::Stored, Some(end)) if end <= bytes.len() => bytes.clone().slice(start..end),
            (CompressionMethod::Stored, _) => {
                return Err(Error::malformed(bytes.len(), format!("the file ends inside member `{name}`")));
            }
            _ => inflated(&mut member, name, start, size)?,
        };
        let tensor = npy::from_storage(data, declared).map_err(|error| shifted(error, start, name))?;
        tensors.insert(name.to_owned(), tensor);
    }
    Ok(tensors)
}

fn inflated(member: &mut impl std::io::Read, name: &str, start: usize, size: usize) -> Result<Storage, Error> {
    let whole = |error: std::io::Error| Error::malformed(start, format!("member `{name}` does not inflate: {error}"));
    Storage::build(size, |out| {
        member.read_exact(out).map_err(whole)?;
        match member.take(1).read(&mut [0]).map_err(whole)? {
            0 => Ok(()),
            _ => Err(Error::malformed(start, format!("member `{name}` is larger than its {size} bytes"))),
        }
    })
}

fn refused(at: usize, what: &str, error: &ZipError) -> Error {
    let what = if what.is_empty() { "no .npz file".to_owned() } else { format!("{what} cannot be read") };
    Error::malformed(at, format!("{what}: {error}"))
}

/// Offsets inside a member that is stored are offsets of the file.
fn shifted(error: Error, by: usize, name: &str) -> Error {
    match error {
        Error::Malformed { offset, reason } => Error::malformed(offset + by, format!("member `{name}`: {reason}")),
        other => other,
    }
}
