//! Raw files: the bytes of a tensor and nothing else. Type and shape come from elsewhere.
//!
//! Elements of four bits are packed, two to a byte, the first in the low half: as the device stores them.

use std::path::Path;

use crate::storage::Storage;
use crate::{DType, Error, Shape, Tensor};

/// Reads little-endian, row-major elements. The file is mapped.
///
/// # Errors
/// The file cannot be read, or its length does not fit the shape.
pub fn read(path: impl AsRef<Path>, dtype: DType, shape: impl Into<Shape>) -> Result<Tensor, Error> {
    let (path, shape) = (path.as_ref(), shape.into());
    let bytes = Storage::map(path)?;
    from_storage(bytes, dtype, shape).map_err(|error| error.in_file(path))
}

/// Reads a file of one axis, as long as the file has elements.
///
/// # Errors
/// The file cannot be read, or ends inside an element.
pub fn read_flat(path: impl AsRef<Path>, dtype: DType) -> Result<Tensor, Error> {
    let path = path.as_ref();
    let bytes = Storage::map(path)?;
    let bits = dtype.bits() as usize;
    let elements = bytes.len() * 8 / bits;
    from_storage(bytes, dtype, Shape(vec![elements])).map_err(|error| error.in_file(path))
}

fn from_storage(bytes: Storage, dtype: DType, shape: Shape) -> Result<Tensor, Error> {
    if dtype.bits() != 4 {
        return Tensor::from_storage(dtype, shape, bytes);
    }
    let elements = shape.elements(dtype)?;
    let (expected, found) = (elements.div_ceil(2), bytes.len());
    if expected != found {
        return Err(Error::Length { shape, dtype, expected, found });
    }
    let unpacked = Storage::build(elements, |out| {
        for (index, out) in out.iter_mut().enumerate() {
            *out = bytes[index / 2] >> (4 * (index % 2)) & 0xF;
        }
        Ok(())
    })?;
    Tensor::from_storage(dtype, shape, unpacked)
}

/// Writes little-endian, row-major elements.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<(), Error> {
    if tensor.dtype().bits() != 4 {
        return Ok(fs_err::write(path.as_ref(), tensor.bytes())?);
    }
    let pack = |pair: &[u8]| pair[0] & 0xF | pair.get(1).map_or(0, |high| high << 4);
    let packed: Vec<u8> = tensor.bytes().chunks(2).map(pack).collect();
    Ok(fs_err::write(path.as_ref(), packed)?)
}
