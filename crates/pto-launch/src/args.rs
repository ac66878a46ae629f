//! What a launcher is called with.

use serde::{Deserialize, Serialize};

/// One parameter of a launcher, in the order of its declaration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// The number of blocks, a `uint32_t`.
    BlockDim(u32),
    /// The stream, a `void *`.
    Stream,
    /// A device buffer; its address is passed.
    Buffer(Buffer),
    /// A number.
    Scalar(Scalar),
}

/// A device buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Names it in messages and among the outputs.
    pub name: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// What it holds before each launch.
    pub init: Init,
    /// Whether its contents are wanted afterwards.
    pub output: bool,
}

/// What a buffer holds before a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Exactly these bytes.
    Bytes(#[serde(skip)] Vec<u8>),
    /// These bytes over and over, the last time cut to what fits.
    Pattern(Vec<u8>),
}

/// A number of a C type.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Scalar {
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
}

impl Init {
    /// The contents of a buffer of this many bytes.
    pub(crate) fn contents(&self, bytes: usize) -> Vec<u8> {
        match self {
            Self::Bytes(exact) => exact.clone(),
            Self::Pattern(pattern) if pattern.is_empty() => vec![0; bytes],
            Self::Pattern(pattern) => pattern.iter().copied().cycle().take(bytes).collect(),
        }
    }
}
