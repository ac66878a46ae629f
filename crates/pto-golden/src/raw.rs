//! Raw files: the bytes of a tensor and nothing else. Type and shape come from elsewhere.

use std::path::Path;

use crate::{DType, Error, Shape, Tensor};

/// Reads little-endian, row-major elements.
///
/// # Errors
/// The file cannot be read, or its length does not fit the shape.
pub fn read(path: impl AsRef<Path>, dtype: DType, shape: impl Into<Shape>) -> Result<Tensor, Error> {
    let path = path.as_ref();
    Tensor::new(dtype, shape, fs_err::read(path)?).map_err(|error| error.in_file(path))
}

/// Writes little-endian, row-major elements.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<(), Error> {
    Ok(fs_err::write(path.as_ref(), tensor.bytes())?)
}
