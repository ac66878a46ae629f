//! The Rust types elements are read as.

mod dispatch;
mod native;
pub(crate) mod read;
mod small;
mod small_elements;

pub(crate) use dispatch::with_element;
pub use small::{F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, HF32, HF32Format, HiF8, I4};

use crate::{DType, Scalar};
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
