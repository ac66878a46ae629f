//! Element types and what is known about each: its names, its size, how NumPy describes it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::suggest::nearest;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// IEEE binary16.
    F16,
    /// The upper half of an IEEE binary32: 8 exponent bits, 7 mantissa bits.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// One byte, 0 or 1.
    Bool,
    /// An IEEE binary32 rounded to 11 mantissa bits, stored as binary32: [`HF32`](crate::element::HF32).
    Hf32,
    /// OCP fp8 with 4 exponent bits: [`F8E4M3`](crate::element::F8E4M3).
    F8E4M3,
    /// OCP fp8 with 5 exponent bits: [`F8E5M2`](crate::element::F8E5M2).
    F8E5M2,
    /// The scale of a microscaling block: [`F8E8M0`](crate::element::F8E8M0).
    F8E8M0,
    /// HiFloat8: [`HiF8`](crate::element::HiF8).
    HiF8,
    /// fp4 with 2 exponent bits: [`F4E2M1`](crate::element::F4E2M1).
    F4E2M1,
    /// fp4 with 1 exponent bit: [`F4E1M2`](crate::element::F4E1M2).
    F4E1M2,
    /// Signed, 4 bits: [`I4`](crate::element::I4).
    I4,
}

/// What kind of number a [`DType`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DTypeKind {
    /// Binary floating point.
    Float,
    /// Two's complement.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// True or false.
    Bool,
}

/// One row per dtype: canonical name, other spellings (NumPy, torch, C), bytes, kind, NumPy's array-protocol code.
///
/// NumPy has no bf16, fp8 or fp4; the `ml_dtypes` extension saves them as void bytes, and so do we.
type Row = (DType, &'static str, &'static [&'static str], usize, DTypeKind, &'static str);

#[rustfmt::skip]
const TABLE: [Row; 21] = [
    (DType::F16,  "f16",  &["float16", "half", "fp16"],              2, DTypeKind::Float,    "<f2"),
    (DType::Bf16, "bf16", &["bfloat16"],                             2, DTypeKind::Float,    "<V2"),
    (DType::F32,  "f32",  &["float32", "float", "fp32"],             4, DTypeKind::Float,    "<f4"),
    (DType::F64,  "f64",  &["float64", "double", "fp64"],            8, DTypeKind::Float,    "<f8"),
    (DType::I8,   "i8",   &["int8", "int8_t"],                       1, DTypeKind::Signed,   "|i1"),
    (DType::I16,  "i16",  &["int16", "int16_t", "short"],            2, DTypeKind::Signed,   "<i2"),
    (DType::I32,  "i32",  &["int32", "int32_t", "int"],              4, DTypeKind::Signed,   "<i4"),
    (DType::I64,  "i64",  &["int64", "int64_t", "long"],             8, DTypeKind::Signed,   "<i8"),
    (DType::U8,   "u8",   &["uint8", "uint8_t"],                     1, DTypeKind::Unsigned, "|u1"),
    (DType::U16,  "u16",  &["uint16", "uint16_t"],                   2, DTypeKind::Unsigned, "<u2"),
    (DType::U32,  "u32",  &["uint32", "uint32_t"],                   4, DTypeKind::Unsigned, "<u4"),
    (DType::U64,  "u64",  &["uint64", "uint64_t"],                   8, DTypeKind::Unsigned, "<u8"),
    (DType::Bool, "bool", &["bool_"],                                1, DTypeKind::Bool,     "|b1"),
    (DType::Hf32, "hf32", &["hifloat32"],                            4, DTypeKind::Float,    "<f4"),
    (DType::F8E4M3, "f8e4m3", &["float8_e4m3fn", "float8_e4m3", "fp8_e4m3", "e4m3"], 1, DTypeKind::Float, "|V1"),
    (DType::F8E5M2, "f8e5m2", &["float8_e5m2", "fp8_e5m2", "e5m2"],  1, DTypeKind::Float,    "|V1"),
    (DType::F8E8M0, "f8e8m0", &["float8_e8m0fnu", "float8_e8m0", "fp8_e8m0", "e8m0"], 1, DTypeKind::Float, "|V1"),
    (DType::HiF8, "hif8", &["hifloat8"],                             1, DTypeKind::Float,    "|V1"),
    (DType::F4E2M1, "f4e2m1", &["float4_e2m1fn", "float4_e2m1", "fp4_e2m1", "e2m1"], 1, DTypeKind::Float, "|V1"),
    (DType::F4E1M2, "f4e1m2", &["float4_e1m2", "fp4_e1m2", "e1m2"],  1, DTypeKind::Float,    "|V1"),
    (DType::I4,   "i4",   &["int4"],                                 1, DTypeKind::Signed,   "|V1"),
];

impl DType {
    /// Every dtype.
    pub const ALL: [Self; 21] = {
        let mut all = [Self::F16; 21];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The canonical name: `f16`, `bf16`, `i32`, `bool`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Bytes per element in memory. An element of four bits has a byte of its own there.
    pub fn size(self) -> usize {
        self.row().3
    }

    /// Bits per element where elements are packed: 4 for the smallest, else those of [`size`](Self::size).
    pub fn bits(self) -> u32 {
        match self {
            Self::F4E2M1 | Self::F4E1M2 | Self::I4 => 4,
            _ => 8 * self.size() as u32,
        }
    }

    /// Float, signed, unsigned or bool.
    pub fn kind(self) -> DTypeKind {
        self.row().4
    }

    /// Whether the elements are floating point.
    pub fn is_float(self) -> bool {
        self.kind() == DTypeKind::Float
    }

    /// The `descr` a little-endian `.npy` file carries. bf16 is `<V2`, as `ml_dtypes` writes it.
    pub fn numpy_descr(self) -> &'static str {
        self.row().5
    }

    /// Smallest and largest value of an integer or bool dtype; `None` for floats.
    pub fn int_range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.kind() {
            DTypeKind::Float => None,
            DTypeKind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            DTypeKind::Unsigned => Some((0, (1 << bits) - 1)),
            DTypeKind::Bool => Some((0, 1)),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no dtype.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{found}`, expected one of {}", canonical_names())]
pub struct UnknownDType {
    /// The word found.
    pub found: String,
    /// The dtype whose name looks most like it.
    pub nearest: Option<DType>,
}

fn canonical_names() -> String {
    DType::ALL.map(DType::name).join(", ")
}

impl FromStr for DType {
    type Err = UnknownDType;

    /// Accepts the canonical name and the spellings of NumPy, torch and C: `float16`, `half`, `bfloat16`, `int32_t`.
    fn from_str(text: &str) -> Result<Self, UnknownDType> {
        let names = |row: &'static Row| std::iter::once(row.1).chain(row.2.iter().copied());
        if let Some(row) = TABLE.iter().find(|row| names(row).any(|name| name == text)) {
            return Ok(row.0);
        }
        let like = nearest(text, TABLE.iter().flat_map(names));
        Err(UnknownDType { found: text.to_owned(), nearest: like.and_then(|name| name.parse().ok()) })
    }
}

impl Serialize for DType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, i);
            assert_eq!(row.1.parse(), Ok(row.0));
            assert!(row.2.iter().all(|alias| alias.parse() == Ok(row.0)));
            assert!(row.5.ends_with(&row.3.to_string()));
        }
    }

    #[test]
    fn foreign_spellings_parse_and_print_canonically() {
        assert_eq!("half".parse::<DType>().unwrap().to_string(), "f16");
        assert_eq!("bfloat16".parse::<DType>().unwrap().to_string(), "bf16");
        let error = "flaot32".parse::<DType>().unwrap_err();
        assert_eq!(error.nearest, Some(DType::F32));
        assert!(error.to_string().starts_with("unknown dtype `flaot32`, expected one of f16, bf16"));
    }

    #[test]
    fn integer_ranges() {
        assert_eq!(DType::I8.int_range(), Some((-128, 127)));
        assert_eq!(DType::U64.int_range(), Some((0, u64::MAX.into())));
        assert_eq!(DType::I64.int_range(), Some((i64::MIN.into(), i64::MAX.into())));
        assert_eq!(DType::F32.int_range(), None);
    }
}
