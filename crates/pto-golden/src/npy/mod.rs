//! `.npy` files: one tensor with its type and shape, as NumPy saves them.
//!
//! All format versions, both byte orders and both element orders are read; little endian and row-major is written.
//! Files that are row-major and little endian are mapped, so they may be larger than memory.

mod header;

use std::path::Path;

use self::header::Descr;
use crate::storage::Storage;
use crate::{DType, Error, Tensor};

/// Reads a file.
///
/// # Errors
/// The file cannot be read or is not a `.npy` file of a known dtype; bf16 needs [`read_as`].
pub fn read(path: impl AsRef<Path>) -> Result<Tensor, Error> {
    from_file(path.as_ref(), None)
}

/// Reads a file whose elements are declared to be `dtype`. NumPy has no bf16, so a file of two-byte void elements (as
/// `ml_dtypes` saves it) or of `u16` may be declared bf16, and `u8` any float of 8 bits and fewer; void elements may be
/// declared anything of their size.
///
/// # Errors
/// The file cannot be read, is not a `.npy` file, or holds another type.
pub fn read_as(path: impl AsRef<Path>, dtype: DType) -> Result<Tensor, Error> {
    from_file(path.as_ref(), Some(dtype))
}

/// Reads the bytes of a file; `declared` as in [`read_as`].
///
/// # Errors
/// As [`read`] and [`read_as`], with offsets from the start of `bytes`.
pub fn from_bytes(bytes: Vec<u8>, declared: Option<DType>) -> Result<Tensor, Error> {
    from_storage(Storage::Owned(bytes), declared)
}

/// The same, in place where the elements are row-major and little endian.
pub(crate) fn from_storage(bytes: Storage, declared: Option<DType>) -> Result<Tensor, Error> {
    let header = header::parse(&bytes)?;
    let dtype = element_type(&header.descr, declared)?;
    let expected = header.shape.elements(dtype)? * dtype.size();
    let found = bytes.len() - header.data_at;
    if found != expected {
        let (at, what) = if found < expected {
            (bytes.len(), "the file ends too early")
        } else {
            (header.data_at + expected, "the file goes on behind its last element")
        };
        let reason = format!("{what}: shape {} of {dtype} needs {expected} bytes, found {found}", header.shape);
        return Err(Error::malformed(at, reason));
    }
    let end = bytes.len();
    let mut data = bytes.slice(header.data_at..end);
    let size = dtype.size();
    if header.fortran_order && header.shape.0.len() > 1 {
        data = Storage::build(expected, |out| {
            to_row_major(&data, &header.shape.0, size, out);
            Ok(())
        })?;
    }
    if header.descr.big_endian && size > 1 {
        data = Storage::build(expected, |out| {
            for (out, element) in out.chunks_exact_mut(size).zip(data.chunks_exact(size)) {
                out.copy_from_slice(element);
                out.reverse();
            }
            Ok(())
        })?;
    }
    Tensor::from_storage(dtype, header.shape, data)
}

/// The bytes of a file.
pub fn to_bytes(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = header::compose(tensor.dtype(), tensor.shape());
    bytes.extend_from_slice(tensor.bytes());
    bytes
}

/// Writes a file.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<(), Error> {
    Ok(fs_err::write(path.as_ref(), to_bytes(tensor))?)
}

fn from_file(path: &Path, declared: Option<DType>) -> Result<Tensor, Error> {
    from_storage(Storage::map(path)?, declared).map_err(|error| error.in_file(path))
}

fn element_type(descr: &Descr, declared: Option<DType>) -> Result<DType, Error> {
    let found = descr.dtype();
    let Some(declared) = declared else {
        return found.ok_or_else(|| Error::OpaqueDType { found: descr.text.clone() });
    };
    let opaque = descr.kind == 'V' && descr.size == declared.size();
    let bits = match declared {
        DType::Bf16 => found == Some(DType::U16),
        DType::Hf32 => found == Some(DType::F32),
        DType::I4 => matches!(found, Some(DType::I8 | DType::U8)),
        _ => declared.size() == 1 && declared.is_float() && found == Some(DType::U8),
    };
    if found == Some(declared) || opaque || bits {
        return Ok(declared);
    }
    Err(Error::FileDType { found: descr.text.clone(), expected: declared })
}

/// Fortran order keeps the first axis together; walk its elements in our order.
fn to_row_major(data: &[u8], shape: &[usize], size: usize, out: &mut [u8]) {
    let mut strides = vec![size; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    for out in out.chunks_exact_mut(size) {
        let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        out.copy_from_slice(&data[at..at + size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}
