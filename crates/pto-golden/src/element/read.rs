//! Many f16 at once, with and without the processor's own conversion.

/// A set of instructions that a loop is compiled for.
#[doc(hidden)]
pub trait Cpu: Copy + Send + Sync {
    /// `bytes` holds `out.len()` elements.
    fn read_f16(bytes: &[u8], out: &mut [f32]);

    /// `a * b + c`, rounded once where the processor does it in one instruction.
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }

    /// Moves what is not 0 to the front of `out`, which is as long as `from`, in order, and says how many there are. What
    /// is behind them is anything.
    #[inline(always)]
    fn compress(from: &[u16], out: &mut [u16]) -> usize {
        let mut count = 0;
        for value in from {
            out[count] = *value;
            count += usize::from(*value != 0);
        }
        count
    }
}

/// Whatever the program was compiled for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Cpu for Portable {
    #[inline(always)]
    fn read_f16(bytes: &[u8], out: &mut [f32]) {
        for (two, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
            *out = f16_to_f32(u16::from_le_bytes(*two));
        }
    }
}

/// Without a branch, so that a loop over it becomes vector instructions. Exponents are moved by adding 112 to them;
/// subnormals get one more and then lose the implicit 1 in a subtraction, which is exact.
#[inline(always)]
pub(crate) fn f16_to_f32(half: u16) -> f32 {
    const EXPONENT: u32 = 0x7C00 << 13;
    let half = u32::from(half);
    let moved = (half & 0x7FFF) << 13;
    let exponent = moved & EXPONENT;
    let normal = moved + ((127 - 15) << 23);
    let special = normal + ((128 - 16) << 23);
    let subnormal = (f32::from_bits(normal + (1 << 23)) - f32::from_bits(113 << 23)).to_bits();
    let finite = if exponent == 0 { subnormal } else { normal };
    let magnitude = if exponent == EXPONENT { special } else { finite };
    f32::from_bits(magnitude | (half & 0x8000) << 16)
}

/// x86-64 with F16C and FMA, which every processor with AVX2 has.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct F16c(());

#[cfg(target_arch = "x86_64")]
impl F16c {
    /// Whether this machine has it.
    pub(crate) fn detect() -> bool {
        std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("f16c")
            && std::is_x86_feature_detected!("fma")
            && std::is_x86_feature_detected!("popcnt")
    }
}

#[cfg(target_arch = "x86_64")]
impl Cpu for F16c {
    #[inline(always)]
    fn read_f16(bytes: &[u8], out: &mut [f32]) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};
        let (sixteen, rest) = bytes.as_chunks::<16>();
        let (eight, last) = out.as_chunks_mut::<8>();
        for (halves, out) in sixteen.iter().zip(eight) {
            // SAFETY: code for `F16c` runs only where `detect` found AVX2 and F16C (`compare::scan`); 16 bytes are read
            // and 8 singles written, which the array types of both references guarantee.
            unsafe {
                _mm256_storeu_ps(out.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(halves.as_ptr().cast())));
            }
        }
        Portable::read_f16(rest, last);
    }

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// The same with AVX-512, which can compress.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Whether this machine has it.
    pub(crate) fn detect() -> bool {
        F16c::detect()
            && std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vbmi2")
    }
}

#[cfg(target_arch = "x86_64")]
impl Cpu for Avx512 {
    #[inline(always)]
    fn read_f16(bytes: &[u8], out: &mut [f32]) {
        use std::arch::x86_64::{_mm256_loadu_si256, _mm512_cvtph_ps, _mm512_storeu_ps};
        let (whole, rest) = bytes.as_chunks::<32>();
        let (sixteen, last) = out.as_chunks_mut::<16>();
        for (halves, out) in whole.iter().zip(sixteen) {
            // SAFETY: code for `Avx512` runs only where `detect` found its instructions (`compare::scan`); 32 bytes are read
            // and 16 singles written, which the array types of both references guarantee.
            unsafe {
                _mm512_storeu_ps(out.as_mut_ptr(), _mm512_cvtph_ps(_mm256_loadu_si256(halves.as_ptr().cast())));
            }
        }
        F16c::read_f16(rest, last);
    }

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        F16c::mul_add(a, b, c)
    }

    #[inline(always)]
    fn compress(from: &[u16], out: &mut [u16]) -> usize {
        use std::arch::x86_64::{
            _mm512_loadu_si512, _mm512_maskz_compress_epi16, _mm512_storeu_si512, _mm512_test_epi16_mask,
        };
        assert!(from.len() <= out.len());
        let (whole, rest) = from.as_chunks::<32>();
        let mut count = 0;
        for values in whole {
            // SAFETY: code for `Avx512` runs only where `detect` found its instructions (`compare::scan`). 32 values are
            // read from an array of 32. 32 are written at `count`, which is at most the values before these, so that
            // `count + 32` is at most `from.len()`, and `out` is no shorter.
            unsafe {
                let values = _mm512_loadu_si512(values.as_ptr().cast());
                let some = _mm512_test_epi16_mask(values, values);
                _mm512_storeu_si512(out.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi16(some, values));
                count += some.count_ones() as usize;
            }
        }
        for value in rest {
            out[count] = *value;
            count += usize::from(*value != 0);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_moves_to_the_front() {
        let from: Vec<u16> = (0..1000u32).map(|i| (i * i % 7) as u16).collect();
        let wanted: Vec<u16> = from.iter().copied().filter(|value| *value != 0).collect();
        let check = |compress: fn(&[u16], &mut [u16]) -> usize| {
            let mut out = vec![0; from.len()];
            let count = compress(&from, &mut out);
            assert_eq!(out[..count], wanted);
        };
        check(Portable::compress);
        #[cfg(target_arch = "x86_64")]
        if Avx512::detect() {
            check(Avx512::compress);
        }
    }

    #[test]
    fn every_f16_is_read_as_the_value_it_has() {
        let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let mut out = vec![0.0; 1 << 16];
        let check = |out: &[f32], how: &str| {
            for (bits, value) in (0..=u16::MAX).zip(out) {
                let expected = half::f16::from_bits(bits).to_f32();
                let same = expected.to_bits() == value.to_bits() || (expected.is_nan() && value.is_nan());
                assert!(same, "{how}: {bits:#06x} is {value}, expected {expected}");
            }
        };
        Portable::read_f16(&bytes, &mut out);
        check(&out, "portable");
        #[cfg(target_arch = "x86_64")]
        if F16c::detect() {
            F16c::read_f16(&bytes, &mut out);
            check(&out, "F16C");
        }
    }
}
