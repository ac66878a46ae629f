//! `.safetensors`: a header in JSON, then the elements, little endian and row-major. The crate of that name reads the
//! header; the elements are used in place.

use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors};

use crate::storage::Storage;
use crate::{DType, Error, Shape, Tensor};

/// The header's length comes first, in so many bytes.
const LENGTH_BYTES: usize = 8;

pub(super) fn read(bytes: Storage) -> Result<BTreeMap<String, Tensor>, Error> {
    let (header, metadata) =
        SafeTensors::read_metadata(&bytes).map_err(|error| Error::malformed(place(&bytes), error.to_string()))?;
    let data = LENGTH_BYTES + header;
    let mut tensors = BTreeMap::new();
    for (name, info) in metadata.tensors() {
        let (start, end) = (data + info.data_offsets.0, data + info.data_offsets.1);
        let Some(dtype) = dtype(info.dtype) else {
            return Err(Error::OpaqueDType { found: format!("{:?}", info.dtype) });
        };
        if end > bytes.len() || start > end {
            let reason = format!("tensor `{name}` is at bytes {start} to {end}, and the file ends");
            return Err(Error::malformed(bytes.len(), reason));
        }
        let part = bytes.clone().slice(start..end);
        let tensor = Tensor::from_storage(dtype, Shape(info.shape.clone()), part)
            .map_err(|error| Error::malformed(start, format!("tensor `{name}`: {error}")))?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

/// Where a header that is refused goes wrong, as far as that can be told: its length, or its text.
fn place(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk::<LENGTH_BYTES>().map(|length| u64::from_le_bytes(*length));
    match length {
        Some(length) if length <= (bytes.len() - LENGTH_BYTES) as u64 => LENGTH_BYTES,
        _ => 0,
    }
}

fn dtype(theirs: Dtype) -> Option<DType> {
    Some(match theirs {
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::Bf16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::U8 => DType::U8,
        Dtype::U16 => DType::U16,
        Dtype::U32 => DType::U32,
        Dtype::U64 => DType::U64,
        Dtype::BOOL => DType::Bool,
        Dtype::F8_E4M3 => DType::F8E4M3,
        Dtype::F8_E5M2 => DType::F8E5M2,
        Dtype::F8_E8M0 => DType::F8E8M0,
        _ => return None,
    })
}
