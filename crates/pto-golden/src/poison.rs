//! What output buffers are filled with before a launch, so that elements nobody wrote can be told apart.
//!
//! | dtype | pattern | reads as |
//! |---|---|---|
//! | f16 | `0xFDA5` | a signalling NaN with this payload |
//! | bf16, f32, f64 | `0xFFA5`, `0xFFA5A5A5`, `0xFFF5A5A5A5A5A5A5` | the same |
//! | integers | `0xA5` in every byte | -91, -23131, 165, ... |
//! | bool | `0xA5` | neither 0 nor 1 |
//! | 8 bits and fewer | `0xA5` | some value |
//!
//! No arithmetic leaves a signalling NaN behind (it sets the quiet bit), and memory full of `0xFF`, which other tools
//! use, is a quiet NaN: for floats the pattern means that nobody wrote, or that memory nobody wrote was copied.
//! An integer or a small float may hold the pattern honestly, so it counts only where the element is wrong as well.

use crate::DType;

/// `elements` elements of the pattern, little endian.
pub fn poison(dtype: DType, elements: usize) -> Vec<u8> {
    pattern(dtype).repeat(elements)
}

/// One element of the pattern, little endian.
pub(crate) fn pattern(dtype: DType) -> &'static [u8] {
    match dtype {
        DType::F16 => &[0xA5, 0xFD],
        DType::Bf16 => &[0xA5, 0xFF],
        DType::F32 | DType::Hf32 => &[0xA5, 0xA5, 0xA5, 0xFF],
        DType::F64 => &[0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xF5, 0xFF],
        _ => &[0xA5; 8][..dtype.size()],
    }
}

/// Whether a wrong element holds the pattern by chance once in a while: of a one-byte element, once in 256.
pub(crate) fn may_be_chance(dtype: DType) -> bool {
    dtype.size() == 1 && dtype != DType::Bool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_patterns_are_signalling_nans() {
        let bits = |dtype| pattern(dtype).iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        for (dtype, mantissa_bits) in [(DType::F16, 10), (DType::Bf16, 7), (DType::F32, 23), (DType::F64, 52)] {
            assert_eq!(pattern(dtype).len(), dtype.size());
            let exponent = (bits(dtype) >> mantissa_bits) & ((1 << (8 * dtype.size() - 1 - mantissa_bits)) - 1);
            assert_eq!(exponent.count_ones() as usize, 8 * dtype.size() - 1 - mantissa_bits, "{dtype}: a NaN");
            assert_eq!(bits(dtype) >> (mantissa_bits - 1) & 1, 0, "{dtype}: signalling");
        }
        assert_eq!(poison(DType::I32, 2), [0xA5; 8]);
    }
}
