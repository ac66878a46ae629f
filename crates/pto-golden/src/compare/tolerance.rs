//! How far an element may be from the golden one.

use serde::{Deserialize, Serialize};

use crate::{DType, Error};

/// `|actual - expected| <= atol + rtol * |expected|`, the rule of `torch.testing.assert_close` and `numpy.allclose`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// In the unit of the elements.
    pub atol: f64,
}

/// A tolerance as written in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    rtol: f64,
    atol: f64,
}

impl TryFrom<Unchecked> for Tolerance {
    type Error = Error;

    fn try_from(written: Unchecked) -> Result<Self, Error> {
        Self::new(written.rtol, written.atol)
    }
}

impl Tolerance {
    /// Equal and nothing else.
    pub const EXACT: Self = Self { rtol: 0.0, atol: 0.0 };

    /// From this `atol` on, outputs of magnitude 1 that are simply wrong begin to pass.
    pub const LOOSE_ATOL: f64 = 1e-2;

    /// The default of a dtype: what `torch.testing.assert_close` uses, exact for integers, bool, and floats of 4 bits.
    pub fn default_for(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self { rtol: 1e-3, atol: 1e-5 },
            DType::Bf16 => Self { rtol: 1.6e-2, atol: 1e-5 },
            DType::F32 => Self { rtol: 1.3e-6, atol: 1e-5 },
            DType::F64 => Self { rtol: 1e-7, atol: 1e-7 },
            // One step of hf32 is 2^-11; of fp8 and fp4 half a step of the coarsest binade.
            DType::Hf32 => Self { rtol: 5e-4, atol: 1e-5 },
            DType::F8E4M3 | DType::HiF8 => Self { rtol: 0.0625, atol: 1e-5 },
            DType::F8E5M2 => Self { rtol: 0.125, atol: 1e-5 },
            _ => Self::EXACT,
        }
    }

    /// A tolerance that can be compared with.
    ///
    /// # Errors
    /// `rtol` or `atol` is negative, infinite or NaN: such a tolerance lets everything or nothing pass.
    pub fn new(rtol: f64, atol: f64) -> Result<Self, Error> {
        for (what, found) in [("rtol", rtol), ("atol", atol)] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(Error::Tolerance { what, found });
            }
        }
        Ok(Self { rtol, atol })
    }

    /// Whether it lets something pass that `other` would not.
    pub fn is_looser_than(&self, other: &Self) -> bool {
        self.rtol > other.rtol || self.atol > other.atol
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::EXACT {
            f.write_str("exact")
        } else {
            write!(f, "rtol {:e}, atol {:e}", self.rtol, self.atol)
        }
    }
}
