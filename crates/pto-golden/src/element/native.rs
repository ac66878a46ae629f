//! The types that Rust, or the crate `half`, computes with.

use half::{bf16, f16};

use super::read::Cpu;
use super::{Element, sealed};
use crate::{DType, Scalar, round};

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
