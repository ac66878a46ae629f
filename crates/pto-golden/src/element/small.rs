//! Element types of 8 bits and fewer, and the reduced `f32` of the cube core.
//!
//! One element takes one byte here, four-bit ones too; [`crate::raw`] packs and unpacks the latter.
//!
//! | type | layout | source |
//! |---|---|---|
//! | [`F8E4M3`] | sign, 4 exponent bits (bias 7), 3 mantissa bits; no infinity, NaN is `0x7F` and `0xFF` | OCP 8-bit Floating Point Specification 1.0 |
//! | [`F8E5M2`] | sign, 5 exponent bits (bias 15), 2 mantissa bits; IEEE infinities and NaNs | the same |
//! | [`F8E8M0`] | a power of two, `2^(x - 127)`; NaN is `0xFF`; no sign, no zero | OCP Microscaling Formats 1.0 |
//! | [`HiF8`] | sign, a prefix that says how many exponent bits follow, exponent, mantissa | "Ascend HiFloat8 Format for Deep Learning" (2024) |
//! | [`F4E2M1`] | sign, 2 exponent bits (bias 1), 1 mantissa bit; all finite | OCP Microscaling Formats 1.0 |
//! | [`F4E1M2`] | sign, 1 exponent bit (bias 1), 2 mantissa bits; quarters from 0 to 1.75 | CANN's `float4_e1m2` |
//! | [`I4`] | two's complement, -8 to 7 | |
//! | [`HF32`] | an `f32` of which 11 mantissa bits count | CANN, `--allow_hf32` |

use std::sync::LazyLock;

/// The values of a type of at most 8 bits, decoded once.
struct Codec {
    decode: [f64; 256],
    /// Finite, not negative, ascending, each with its code.
    positive: Vec<(f64, u8)>,
    format: Format,
}

/// What the layouts differ in.
struct Format {
    /// Bits that count; the others of the byte are ignored.
    bits: u32,
    value: fn(u8) -> f64,
    /// What becomes of values beyond the largest, not negative.
    beyond: Beyond,
    /// The code of NaN, where there is one.
    nan: Option<u8>,
    /// The bit of the sign, or 0.
    sign: u8,
    /// Half way between two values: to the even code, or away from zero.
    ties_away: bool,
}

enum Beyond {
    /// This code, which stands where the next value would be.
    Becomes { code: u8, next: f64 },
    /// The largest.
    Saturates,
}

impl Codec {
    fn new(format: Format) -> Self {
        let mut decode = [0.0; 256];
        let mask = ((1u32 << format.bits) - 1) as u8;
        for (code, value) in (0..=255u8).zip(&mut decode) {
            *value = (format.value)(code & mask);
        }
        let codes = (0..=mask).filter(|code| code & format.sign == 0);
        let mut positive: Vec<(f64, u8)> = codes.map(|code| (decode[usize::from(code)], code)).collect();
        positive.retain(|(value, _)| value.is_finite() && *value >= 0.0);
        positive.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { decode, positive, format }
    }

    fn encode(&self, value: f64) -> u8 {
        let Format { nan, sign, .. } = self.format;
        let negative = value.is_sign_negative();
        if value.is_nan() || (negative && sign == 0 && value != 0.0) {
            return nan.unwrap_or(0);
        }
        let code = self.encode_magnitude(value.abs());
        // A type without a negative zero has its NaN there.
        if negative && Some(code | sign) != nan { code | sign } else { code }
    }

    fn encode_magnitude(&self, value: f64) -> u8 {
        let above = self.positive.partition_point(|(known, _)| *known <= value);
        let Some(&(low, low_code)) = above.checked_sub(1).and_then(|below| self.positive.get(below)) else {
            return self.positive[0].1; // below the smallest, which is not zero
        };
        let (high, high_code) = match self.positive.get(above) {
            Some(next) => *next,
            None => match self.format.beyond {
                Beyond::Becomes { code, next } => (next, code),
                Beyond::Saturates => return low_code,
            },
        };
        let middle = low + (high - low) / 2.0; // exact: both have few bits
        let up = value > middle || (value == middle && (self.format.ties_away || low_code & 1 == 1));
        if up { high_code } else { low_code }
    }
}

/// Sign, exponent, mantissa, without special codes.
fn plain(code: u8, exponent_bits: u32, mantissa_bits: u32, bias: i32) -> f64 {
    let mantissa = f64::from(code & ((1 << mantissa_bits) - 1)) / f64::from(1u32 << mantissa_bits);
    let exponent = i32::from(code >> mantissa_bits & ((1 << exponent_bits) - 1));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(1 - bias),
        _ => (1.0 + mantissa) * 2f64.powi(exponent - bias),
    };
    if code >> (exponent_bits + mantissa_bits) & 1 == 1 { -magnitude } else { magnitude }
}

fn e4m3(code: u8) -> f64 {
    if code & 0x7F == 0x7F { f64::NAN } else { plain(code, 4, 3, 7) }
}

fn e5m2(code: u8) -> f64 {
    match code & 0x7F {
        0x7C => f64::INFINITY.copysign(plain(code, 5, 2, 15)),
        0x7D.. => f64::NAN,
        _ => plain(code, 5, 2, 15),
    }
}

fn e8m0(code: u8) -> f64 {
    if code == 0xFF { f64::NAN } else { 2f64.powi(i32::from(code) - 127) }
}

/// The prefix behind the sign says how many exponent bits follow: `11` four, `10` three, `01` two, `001` one, `0001`
/// none; `0000` is subnormal. An exponent is a sign and a magnitude whose leading 1 is not written.
fn hif8(code: u8) -> f64 {
    let magnitude = match code & 0x7F {
        0 => return if code == 0 { 0.0 } else { f64::NAN },
        0x6F => f64::INFINITY,
        rest @ ..=0x07 => 2f64.powi(i32::from(rest) - 23),
        rest => {
            let (exponent_bits, mantissa_bits) = match rest {
                0x60.. => (4, 1),
                0x40..=0x5F => (3, 2),
                0x20..=0x3F => (2, 3),
                0x10..=0x1F => (1, 3),
                _ => (0, 3),
            };
            let mantissa = f64::from(rest & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
            let field = i32::from(rest >> mantissa_bits) & ((1 << exponent_bits) - 1);
            let exponent = match exponent_bits {
                0 => 0,
                bits => {
                    let sign_at = bits - 1;
                    let magnitude = 1 << sign_at | field & ((1 << sign_at) - 1);
                    if field >> sign_at & 1 == 1 { -magnitude } else { magnitude }
                }
            };
            (1.0 + mantissa) * 2f64.powi(exponent)
        }
    };
    if code & 0x80 != 0 { -magnitude } else { magnitude }
}

macro_rules! small {
    ($($(#[$doc:meta])* $name:ident, $codec:ident, $format:expr;)*) => {$(
        static $codec: LazyLock<Codec> = LazyLock::new(|| Codec::new($format));

        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(
            /// The bits.
            pub u8,
        );

        impl $name {
            /// The value, exactly.
            pub fn to_f64(self) -> f64 {
                $codec.decode[usize::from(self.0)]
            }

            /// The nearest value.
            pub fn from_f64(value: f64) -> Self {
                Self($codec.encode(value))
            }

            /// All 256 bytes decoded.
            pub(super) fn table() -> &'static [f64; 256] {
                &$codec.decode
            }
        }
    )*};
}

small! {
    /// fp8 e4m3, the finite kind of OCP. What rounds beyond 448 is NaN.
    F8E4M3, E4M3, Format { bits: 8, value: e4m3, beyond: Beyond::Becomes { code: 0x7F, next: 480.0 }, nan: Some(0x7F), sign: 0x80, ties_away: false };
    /// fp8 e5m2. What rounds beyond 57344 is infinite.
    F8E5M2, E5M2, Format { bits: 8, value: e5m2, beyond: Beyond::Becomes { code: 0x7C, next: 65536.0 }, nan: Some(0x7E), sign: 0x80, ties_away: false };
    /// The scale of a microscaling block: a power of two.
    F8E8M0, E8M0, Format { bits: 8, value: e8m0, beyond: Beyond::Becomes { code: 0xFF, next: 2f64.powi(128) }, nan: Some(0xFF), sign: 0, ties_away: false };
    /// HiFloat8. Ties round away from zero, and what rounds beyond 32768 is infinite.
    HiF8, HIF8, Format { bits: 8, value: hif8, beyond: Beyond::Becomes { code: 0x6F, next: 49152.0 }, nan: Some(0x80), sign: 0x80, ties_away: true };
    /// fp4 e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6. What is beyond saturates.
    F4E2M1, E2M1, Format { bits: 4, value: |code| plain(code, 2, 1, 1), beyond: Beyond::Saturates, nan: None, sign: 8, ties_away: false };
    /// fp4 e1m2: quarters from 0 to 1.75. What is beyond saturates.
    F4E1M2, E1M2, Format { bits: 4, value: |code| plain(code, 1, 2, 1), beyond: Beyond::Saturates, nan: None, sign: 8, ties_away: false };
}

/// int4, sign-extended from the low four bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct I4(
    /// The bits.
    pub u8,
);

impl I4 {
    /// The value.
    pub fn to_f64(self) -> f64 {
        f64::from(((self.0 << 4) as i8) >> 4)
    }

    /// Towards zero, as all integers; what is beyond -8 and 7 saturates, and NaN becomes 0.
    pub fn from_f64(value: f64) -> Self {
        Self((value as i8).clamp(-8, 7) as u8 & 0xF)
    }

    pub(super) fn table() -> &'static [f64; 256] {
        static TABLE: LazyLock<[f64; 256]> = LazyLock::new(|| std::array::from_fn(|code| I4(code as u8).to_f64()));
        &TABLE
    }
}

/// The single precision that the cube core multiplies with when `hf32` is on: an `f32` of which only the upper mantissa
/// bits count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HF32(
    /// The value, already rounded.
    pub f32,
);

/// How an SoC makes hf32 of an f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HF32Format {
    /// Mantissa bits kept, of 23.
    pub mantissa_bits: u32,
    /// Half way: to the even neighbour, or away from zero. Hardware has a mode for either.
    pub ties_away: bool,
}

impl HF32Format {
    /// A2, A3 and A5: 11 mantissa bits, ties to even.
    pub const DEFAULT: Self = Self { mantissa_bits: 11, ties_away: false };

    /// Rounds; NaN and infinities stay, and what rounds beyond the largest becomes infinite.
    pub fn round(self, value: f32) -> f32 {
        let cut = 23u32.saturating_sub(self.mantissa_bits);
        if cut == 0 || !value.is_finite() {
            return value;
        }
        let bits = value.to_bits();
        let half = 1u32 << (cut - 1);
        let add = if self.ties_away { half } else { half - 1 + (bits >> cut & 1) };
        f32::from_bits((bits + add) >> cut << cut)
    }
}

impl HF32 {
    /// The value.
    pub fn to_f64(self) -> f64 {
        self.0.into()
    }

    /// Rounded once, as [`HF32Format::DEFAULT`] says.
    pub fn from_f64(value: f64) -> Self {
        Self(HF32Format::DEFAULT.round(crate::round::to_odd_f32(value)))
    }
}
