//! The types of [`super::small`] as elements: a byte is looked up in a table of its 256 values.

use super::read::Cpu;
use super::small::{F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, HF32, HF32Format, HiF8, I4};
use super::{Element, sealed};
use crate::{DType, Scalar, round};

impl sealed::Sealed for HF32 {}
impl Element for HF32 {
    const DTYPE: DType = DType::Hf32;

    fn read(bytes: &[u8]) -> Self {
        Self(f32::read(bytes))
    }

    fn write(self, bytes: &mut [u8]) {
        self.0.write(bytes);
    }

    fn to_f64(self) -> f64 {
        self.0.into()
    }

    fn from_f64(value: f64) -> Self {
        Self::from_f64(value)
    }

    fn from_i128(value: i128) -> Self {
        Self::from_f64(round::to_odd_f64(value))
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Float(self.0.into())
    }

    /// In steps of hf32, of which one is 4096 of f32.
    fn ordinal(self) -> Option<i64> {
        // Values between are none of the type; dividing rounds them away.
        self.0.ordinal().map(|ordinal| ordinal / (1 << (23 - HF32Format::DEFAULT.mantissa_bits)))
    }
}

macro_rules! byte {
    ($($name:ident => $dtype:ident, $scalar:expr, $ordinal:expr;)*) => {$(
        impl sealed::Sealed for $name {}
        impl Element for $name {
            const DTYPE: DType = DType::$dtype;

            fn read(bytes: &[u8]) -> Self {
                Self(bytes[0])
            }

            fn write(self, bytes: &mut [u8]) {
                bytes[0] = self.0;
            }

            fn to_f64(self) -> f64 {
                Self::to_f64(self)
            }

            fn from_f64(value: f64) -> Self {
                Self::from_f64(value)
            }

            fn from_i128(value: i128) -> Self {
                Self::from_f64(round::to_odd_f64(value))
            }

            fn to_scalar(self) -> Scalar {
                $scalar(Self::to_f64(self))
            }

            const SINGLE: bool = true;

            #[inline(always)]
            fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
                let table = Self::table();
                for (byte, out) in bytes.iter().zip(out) {
                    *out = table[usize::from(*byte)] as f32;
                }
            }

            #[inline(always)]
            fn read_on<C: Cpu>(bytes: &[u8], out: &mut [f64]) {
                let table = Self::table();
                for (byte, out) in bytes.iter().zip(out) {
                    *out = table[usize::from(*byte)];
                }
            }

            fn ordinal(self) -> Option<i64> {
                $ordinal(self.0, Self::to_f64(self))
            }
        }
    )*};
}
byte! {
    F8E4M3 => F8E4M3, Scalar::Float, signed_code;
    F8E5M2 => F8E5M2, Scalar::Float, signed_code;
    F8E8M0 => F8E8M0, Scalar::Float, |code: u8, value: f64| (!value.is_nan()).then_some(code.into());
    HiF8 => HiF8, Scalar::Float, |_, value: f64| rank(HiF8::table(), value);
    F4E2M1 => F4E2M1, Scalar::Float, |code: u8, value: f64| signed_code((code & 8) << 4 | code & 7, value);
    F4E1M2 => F4E1M2, Scalar::Float, |code: u8, value: f64| signed_code((code & 8) << 4 | code & 7, value);
    I4 => I4, |value: f64| Scalar::Int(value as i128), |_, _| None;
}

/// Of a type whose codes grow with the magnitude.
fn signed_code(code: u8, value: f64) -> Option<i64> {
    let magnitude = i64::from(code & 0x7F);
    (!value.is_nan()).then_some(if code & 0x80 == 0 { magnitude } else { -magnitude })
}

/// Of a type whose codes do not: how many values lie between it and zero.
fn rank(table: &[f64; 256], value: f64) -> Option<i64> {
    let between = table.iter().filter(|other| **other > 0.0 && **other <= value.abs()).count() as i64;
    (!value.is_nan()).then_some(if value < 0.0 { -between } else { between })
}
