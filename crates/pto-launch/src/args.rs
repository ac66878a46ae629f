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
    /// Its size in bytes. A buffer of no bytes has an address of its own too.
    pub bytes: usize,
    /// What it holds before each launch.
    pub init: Init,
    /// Whether its contents are wanted afterwards.
    pub output: bool,
}

impl Buffer {
    /// The same without what it holds: its name and size.
    pub(crate) fn named(&self) -> Self {
        Self { init: Init::Pattern(Vec::new()), ..self.clone() }
    }
}

/// What a buffer holds before a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Exactly these bytes, as many as the buffer has. They are not serialized: they travel in a file of their own.
    Bytes(#[serde(skip)] Vec<u8>),
    /// These bytes over and over, the last time cut to what fits. No bytes stand for a single 0.
    Pattern(Vec<u8>),
}

/// A number of a C type. Floating point is serialized as its bits: JSON has neither NaN nor infinity.
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
    #[serde(with = "f32_bits")]
    F32(f32),
    #[serde(with = "f64_bits")]
    F64(f64),
}

macro_rules! bits {
    ($module:ident, $float:ty, $bits:ty) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(super) fn serialize<S: Serializer>(value: &$float, to: S) -> Result<S::Ok, S::Error> {
                value.to_bits().serialize(to)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$float, D::Error> {
                <$bits>::deserialize(from).map(<$float>::from_bits)
            }
        }
    };
}
bits!(f32_bits, f32, u32);
bits!(f64_bits, f64, u64);

/// The first `bytes` bytes of a pattern that is repeated without end.
pub(crate) fn repeated(pattern: &[u8], bytes: usize) -> Vec<u8> {
    let pattern = if pattern.is_empty() { &[0] } else { pattern };
    pattern.iter().copied().cycle().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_is_cut_to_what_fits() {
        assert_eq!(repeated(&[1, 2, 3], 5), [1, 2, 3, 1, 2]);
        assert_eq!(repeated(&[], 2), [0, 0]);
        assert!(repeated(&[1], 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_float_arrives_with_all_its_bits(single: u32, double: u64) {
            let sent = [Scalar::F32(f32::from_bits(single)), Scalar::F64(f64::from_bits(double))];
            let text = serde_json::to_string(&sent).unwrap();
            match serde_json::from_str::<[Scalar; 2]>(&text).unwrap() {
                [Scalar::F32(s), Scalar::F64(d)] => prop_assert_eq!((s.to_bits(), d.to_bits()), (single, double)),
                other => panic!("{other:?}"),
            }
        }
    }
}
