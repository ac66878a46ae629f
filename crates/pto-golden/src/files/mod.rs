//! Tensor files of every kind, opened by what they are called.
//!
//! | ending | holds | read |
//! |---|---|---|
//! | `.npy` | one tensor | all versions, both byte orders, both element orders |
//! | `.npz` | tensors by name | stored and deflated |
//! | `.safetensors` | tensors by name | |
//! | `.bin`, `.raw`, `.dat` | the elements and nothing else | with the dtype declared; without a shape, as one axis |
//!
//! What is row-major and little endian is mapped, so a file may be larger than memory.

mod npz;
mod safetensors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::storage::Storage;
use crate::{DType, Error, Shape, Tensor, npy, raw};

/// What is known of tensors that the file does not say.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// The element type: of raw files, and of what NumPy has no type for.
    pub dtype: Option<DType>,
    /// The shape of raw files.
    pub shape: Option<Shape>,
}

/// The tensors of one file.
#[derive(Debug, Clone)]
pub enum Content {
    /// A file that holds one, without a name.
    One(Tensor),
    /// A file that holds tensors by name.
    Named(BTreeMap<String, Tensor>),
}

/// Endings of the files that [`open`] reads.
pub const ENDINGS: [&str; 6] = ["npy", "npz", "safetensors", "bin", "raw", "dat"];

/// Opens one file.
///
/// # Errors
/// The file cannot be read, is malformed (with the offset), is of no known kind, or needs a dtype that was not declared.
pub fn open(path: impl AsRef<Path>, declared: &Declared) -> Result<Content, Error> {
    let path = path.as_ref();
    let one = |tensor: Result<Tensor, Error>| tensor.map(Content::One);
    match ending(path) {
        Some("npy") => one(match declared.dtype {
            Some(dtype) => npy::read_as(path, dtype),
            None => npy::read(path),
        }),
        Some("npz") => npz::read(path, declared.dtype).map(Content::Named),
        Some("safetensors") => {
            safetensors::read(Storage::map(path)?).map(Content::Named).map_err(|error| error.in_file(path))
        }
        Some(_) => one(match (declared.dtype, &declared.shape) {
            (Some(dtype), Some(shape)) => raw::read(path, dtype, shape.clone()),
            (Some(dtype), None) => raw::read_flat(path, dtype),
            (None, _) => Err(Error::Undeclared { path: path.to_owned() }),
        }),
        None => Err(Error::UnknownKind { path: path.to_owned() }),
    }
}

/// The tensor files directly in a directory, by name without the ending.
///
/// # Errors
/// The directory cannot be read, or two files have the same name.
pub fn list(dir: impl AsRef<Path>) -> Result<BTreeMap<String, PathBuf>, Error> {
    let mut files = BTreeMap::new();
    for entry in fs_err::read_dir(dir.as_ref())? {
        let path = entry?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let Some(name) = stem.filter(|_| ending(&path).is_some() && path.is_file()) else { continue };
        if let Some(other) = files.insert(name, path.clone()) {
            return Err(Error::SameName { path, other });
        }
    }
    Ok(files)
}

fn ending(path: &Path) -> Option<&'static str> {
    let found = path.extension()?.to_str()?.to_lowercase();
    ENDINGS.into_iter().find(|ending| *ending == found)
}
