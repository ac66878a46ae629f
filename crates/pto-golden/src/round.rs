//! Conversions that round once.
//!
//! Going from `f64` to a 16-bit float through `f32` rounds twice and is wrong near ties, in software and with the
//! hardware's own instructions alike. Rounding to odd on the way keeps what the second rounding needs to know: Boldo and
//! Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008). It asks
//! for two spare bits, and `f32` has 13 over f16 and 16 over bf16.

use half::{bf16, f16};

/// The `f32` next to `value` towards zero, with its last bit set if that lost anything.
pub(crate) fn to_odd_f32(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || value.is_nan() {
        return near;
    }
    let towards_zero = near.to_bits() - u32::from(f64::from(near).abs() > value.abs());
    f32::from_bits(towards_zero | 1)
}

/// The `f64` next to `value` towards zero, with its last bit set if that lost anything.
pub(crate) fn to_odd_f64(value: i128) -> f64 {
    let near = value as f64;
    let back = near as i128; // saturates only at i128::MAX, which no element type reaches
    if back == value {
        return near;
    }
    let towards_zero = near.to_bits() - u64::from(back.unsigned_abs() > value.unsigned_abs());
    f64::from_bits(towards_zero | 1)
}

/// Nearest f16, ties to even.
pub(crate) fn f16_from_f64(value: f64) -> f16 {
    f16::from_f32(to_odd_f32(value))
}

/// Nearest bf16, ties to even.
pub(crate) fn bf16_from_f64(value: f64) -> bf16 {
    bf16::from_f32(to_odd_f32(value))
}

/// Nearest f16, ties to even.
pub(crate) fn f16_from_i128(value: i128) -> f16 {
    f16_from_f64(to_odd_f64(value))
}

/// Nearest bf16, ties to even.
pub(crate) fn bf16_from_i128(value: i128) -> bf16 {
    bf16_from_f64(to_odd_f64(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Nearest of the two neighbours by exact `f64` distance: slow, and a different way to the same answer.
    fn nearest_f16(value: f64) -> f16 {
        let all = || (0..=0xFFFFu16).map(f16::from_bits).filter(|x| x.is_finite());
        let distance = |x: &f16| (x.to_f64() - value).abs();
        let best = all().min_by(|a, b| {
            let even = |x: &f16| x.to_bits() & 1;
            distance(a).total_cmp(&distance(b)).then(even(a).cmp(&even(b)))
        });
        best.unwrap()
    }

    #[test]
    fn a_value_just_above_a_tie_rounds_up() {
        let tie = 1.0 + 2f64.powi(-11); // half way between two f16
        assert_eq!(f16_from_f64(tie), f16::from_f32(1.0));
        let above = tie + 2f64.powi(-40); // which f32 cannot tell from the tie
        assert_eq!(f16_from_f64(above).to_bits(), f16::from_f32(1.0).to_bits() + 1);
        let tie = 1.0 + 2f64.powi(-8);
        assert_eq!(bf16_from_f64(tie), bf16::from_f32(1.0));
        assert_eq!(bf16_from_f64(tie + 2f64.powi(-40)).to_bits(), bf16::from_f32(1.0).to_bits() + 1);
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(f16_from_f64(65519.999), f16::MAX);
        assert_eq!(f16_from_f64(65520.0), f16::INFINITY);
        assert_eq!(f16_from_f64(-1e300), f16::NEG_INFINITY);
        assert_eq!(bf16_from_f64(1e300), bf16::INFINITY);
        assert_eq!(f16_from_f64(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(f16_from_f64(2f64.powi(-25) * 1.0001).to_bits(), 1);
        assert_eq!(f16_from_f64(-0.0).to_bits(), 0x8000);
        assert!(f16_from_f64(f64::NAN).is_nan() && bf16_from_f64(f64::NAN).is_nan());
        assert_eq!(bf16_from_i128((1 << 62) + (1 << 54)), bf16::from_f64(2f64.powi(62)));
        assert_eq!(bf16_from_i128((1 << 62) + (1 << 54) + 1).to_bits(), bf16::from_f64(2f64.powi(62)).to_bits() + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn f16_is_the_nearest(bits in 0..0x7BFFu16, wobble in -3i64..4, negative: bool) {
            let tie = (f16::from_bits(bits).to_f64() + f16::from_bits(bits + 1).to_f64()) / 2.0;
            let value = f64::from_bits(tie.to_bits().wrapping_add_signed(wobble));
            let value = if negative { -value } else { value };
            prop_assert_eq!(f16_from_f64(value).to_f64(), nearest_f16(value).to_f64());
        }
    }
}
