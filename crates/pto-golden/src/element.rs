//! The Rust types elements are read as.

use half::{bf16, f16};

use crate::{DType, Scalar, round};

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
        for (one, out) in bytes.chunks_exact(size_of::<Self>()).zip(out) {
            *out = Self::read(one).to_f64();
        }
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
    ($($rust:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            le_bytes!();

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
integer!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64);

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
float!(f64 => F64, |x| x, |x| x, |x| x as f64, {});
float!(f32 => F32, f64::from, |x| x as f32, |x| x as f32, {});
float!(bf16 => Bf16, bf16::to_f64, round::bf16_from_f64, round::bf16_from_i128, {});
float!(f16 => F16, f16::to_f64, round::f16_from_f64, round::f16_from_i128, {
    /// The hardware converts eight at a time where it can.
    fn read_f64s(bytes: &[u8], out: &mut [f64]) {
        use half::slice::HalfFloatSliceExt;
        const BLOCK: usize = 64;
        let (mut halves, mut singles) = ([f16::ZERO; BLOCK], [0f32; BLOCK]);
        for (bytes, out) in bytes.chunks(2 * BLOCK).zip(out.chunks_mut(BLOCK)) {
            for (half, two) in halves.iter_mut().zip(bytes.chunks_exact(2)) {
                *half = Self::read(two);
            }
            halves.convert_to_f32_slice(&mut singles);
            out.iter_mut().zip(singles).for_each(|(out, single)| *out = single.into());
        }
    }
});

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
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}
pub(crate) use with_element;
