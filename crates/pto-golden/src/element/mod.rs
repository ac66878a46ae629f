//! The Rust types elements are read as.

pub(crate) mod read;
mod small;

use half::{bf16, f16};

pub use small::{F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, HF32, HF32Format, HiF8, I4};

use crate::{DType, Scalar, round};
use read::{Cpu, Portable};

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element type of some [`DType`]. Sealed: the list of dtypes is closed.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Its dtype.
    const DTYPE: DType;

    /// From little-endian bytes; `bytes` is exactly one element long.
    fn read(bytes: &[u8]) -> Self;

    /// To little-endian bytes; `bytes` is exactly one element long.
    fn write(self, bytes: &mut [u8]);

    /// As a double. Exact for all but 64-bit integers, which round to nearest.
    fn to_f64(self) -> f64;

    /// From a double, rounding once. Floats: nearest, ties to even, overflow to infinity. Integers: towards zero, as
    /// NumPy, torch and C convert; what leaves the range saturates and NaN becomes 0, where those leave it undefined.
    /// `bool` is "not zero".
    fn from_f64(value: f64) -> Self;

    /// From an exact integer, by the same rules.
    fn from_i128(value: i128) -> Self;

    /// As a value that needs no dtype to be understood.
    fn to_scalar(self) -> Scalar;

    /// Many at once, as doubles. `bytes` holds `out.len()` elements.
    fn read_f64s(bytes: &[u8], out: &mut [f64]) {
        Self::read_on::<Portable>(bytes, out);
    }

    /// The same with the instructions that `C` stands for.
    #[doc(hidden)]
    #[inline(always)]
    fn read_on<C: Cpu>(bytes: &[u8], out: &mut [f64]) {
        for (one, out) in bytes.chunks_exact(size_of::<Self>()).zip(out) {
            *out = Self::read(one).to_f64();
        }
    }

    /// Whether every value is exact in single precision.
    #[doc(hidden)]
    const SINGLE: bool = false;

    /// Many at once in single precision; only for types whose values are exact in it.
    #[doc(hidden)]
    #[inline(always)]
    fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
        for (one, out) in bytes.chunks_exact(size_of::<Self>()).zip(out) {
            *out = Self::read(one).to_f64() as f32;
        }
    }

    /// The place of a float among all values of its type, so that neighbours differ by 1 and the zeros by nothing.
    /// `None` for NaN and for types that are no floats.
    #[doc(hidden)]
    fn ordinal(self) -> Option<i64> {
        None
    }
}

/// `read` and `write` of a type with `from_le_bytes`. A slice of the wrong length is a caller's bug inside this crate.
macro_rules! le_bytes {
    () => {
        fn read(bytes: &[u8]) -> Self {
            let mut own = [0; size_of::<Self>()];
            own.copy_from_slice(bytes);
            Self::from_le_bytes(own)
        }

        fn write(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_le_bytes());
        }
    };
}

macro_rules! integer {
    ($($rust:ty => $dtype:ident, $single:literal);*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            const SINGLE: bool = $single;
            le_bytes!();

            #[inline(always)]
            fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
                for (one, out) in bytes.as_chunks::<{ size_of::<Self>() }>().0.iter().zip(out) {
                    *out = Self::from_le_bytes(*one) as f32;
                }
            }

            #[inline(always)]
            fn read_on<C: Cpu>(bytes: &[u8], out: &mut [f64]) {
                for (one, out) in bytes.as_chunks::<{ size_of::<Self>() }>().0.iter().zip(out) {
                    *out = Self::from_le_bytes(*one) as f64;
                }
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn from_f64(value: f64) -> Self {
                value as $rust
            }

            fn from_i128(value: i128) -> Self {
                value.clamp(<$rust>::MIN.into(), <$rust>::MAX.into()) as $rust
            }

            fn to_scalar(self) -> Scalar {
                Scalar::Int(self.into())
            }
        }
    )*};
}
integer!(
    i8 => I8, true; i16 => I16, true; i32 => I32, false; i64 => I64, false;
    u8 => U8, true; u16 => U16, true; u32 => U32, false; u64 => U64, false
);

macro_rules! float {
    ($rust:ty => $dtype:ident, $to_f64:expr, $from_f64:expr, $from_i128:expr, { $($more:tt)* }) => {
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            le_bytes!();

            fn to_f64(self) -> f64 {
                $to_f64(self)
            }

            fn from_f64(value: f64) -> Self {
                $from_f64(value)
            }

            fn from_i128(value: i128) -> Self {
                $from_i128(value)
            }

            fn to_scalar(self) -> Scalar {
                Scalar::Float(self.to_f64())
            }

            $($more)*
        }
    };
}
float!(f64 => F64, |x| x, |x| x, |x| x as f64, {
    fn ordinal(self) -> Option<i64> {
        let bits = self.to_bits() as i64;
        (!self.is_nan()).then(|| if bits < 0 { i64::MIN - bits } else { bits })
    }
});
float!(f32 => F32, f64::from, |x| x as f32, |x| x as f32, {
    const SINGLE: bool = true;

    #[inline(always)]
    fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
        for (four, out) in bytes.as_chunks::<4>().0.iter().zip(out) {
            *out = f32::from_le_bytes(*four);
        }
    }

    fn ordinal(self) -> Option<i64> {
        let bits = self.to_bits() as i32;
        (!self.is_nan()).then(|| i64::from(if bits < 0 { i32::MIN - bits } else { bits }))
    }
});
float!(bf16 => Bf16, bf16::to_f64, round::bf16_from_f64, round::bf16_from_i128, {
    #[inline(always)]
    fn read_on<C: Cpu>(bytes: &[u8], out: &mut [f64]) {
        for (two, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
            *out = f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16).into();
        }
    }

    const SINGLE: bool = true;

    #[inline(always)]
    fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
        for (two, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
            *out = f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16);
        }
    }

    fn ordinal(self) -> Option<i64> {
        (!self.is_nan()).then(|| ordinal16(self.to_bits()))
    }
});
float!(f16 => F16, f16::to_f64, round::f16_from_f64, round::f16_from_i128, {
    const SINGLE: bool = true;

    #[inline(always)]
    fn read_singles_on<C: Cpu>(bytes: &[u8], out: &mut [f32]) {
        C::read_f16(bytes, out);
    }

    #[inline(always)]
    fn read_on<C: Cpu>(bytes: &[u8], out: &mut [f64]) {
        let mut singles = [0f32; 64];
        for (bytes, out) in bytes.chunks(2 * 64).zip(out.chunks_mut(64)) {
            let singles = &mut singles[..out.len()];
            C::read_f16(bytes, singles);
            out.iter_mut().zip(singles).for_each(|(out, single)| *out = (*single).into());
        }
    }

    fn ordinal(self) -> Option<i64> {
        (!self.is_nan()).then(|| ordinal16(self.to_bits()))
    }
});

fn ordinal16(bits: u16) -> i64 {
    let bits = bits as i16;
    i64::from(if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits })
}

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

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }

    fn write(self, bytes: &mut [u8]) {
        bytes[0] = self.into();
    }

    fn to_f64(self) -> f64 {
        self.into()
    }

    fn from_f64(value: f64) -> Self {
        value != 0.0
    }

    fn from_i128(value: i128) -> Self {
        value != 0
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self)
    }
}

/// Runs `$body` with `$T` bound to the Rust type of `$dtype`.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::Bf16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::Hf32 => {
                type $T = $crate::element::HF32;
                $body
            }
            $crate::DType::F8E4M3 => {
                type $T = $crate::element::F8E4M3;
                $body
            }
            $crate::DType::F8E5M2 => {
                type $T = $crate::element::F8E5M2;
                $body
            }
            $crate::DType::F8E8M0 => {
                type $T = $crate::element::F8E8M0;
                $body
            }
            $crate::DType::HiF8 => {
                type $T = $crate::element::HiF8;
                $body
            }
            $crate::DType::F4E2M1 => {
                type $T = $crate::element::F4E2M1;
                $body
            }
            $crate::DType::F4E1M2 => {
                type $T = $crate::element::F4E1M2;
                $body
            }
            $crate::DType::I4 => {
                type $T = $crate::element::I4;
                $body
            }
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}
pub(crate) use with_element;
