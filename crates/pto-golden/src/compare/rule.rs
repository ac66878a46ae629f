//! The rules a tensor can be judged by.

use std::fmt;

use super::Tolerance;
use crate::{DType, Error};

/// What makes an output right. `a` is an actual element, `e` the expected one.
///
/// Under every rule non-finite elements are compared by class and sign first, so no limit lets a finite value pass for
/// an infinity; NaN equals NaN only if [`Options::equal_nan`](super::Options::equal_nan) says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// `|a - e| <= atol + rtol * |e|` for every element: `torch.testing.assert_close`, `numpy.testing.assert_allclose`.
    Close(Tolerance),
    /// `a == e` for every element; the zeros are equal. `numpy.testing.assert_array_equal`.
    Exact,
    /// The same bits in every element: -0 is not 0, and a NaN equals itself.
    BitExact,
    /// At most `max` values of the type lie between `a` and `e`, counted through zero: `numpy.testing.
    /// assert_array_max_ulp`. For integers, `|a - e| <= max`.
    Ulp {
        /// Units in the last place.
        max: u64,
    },
    /// [`Close`](Self::Close) for at least `rate` of the elements, and `|a - e| <= cap * (atol + rtol * |e|)` for every one. For long tails:
    /// the outputs of deep networks, where a few elements lose more than the others.
    PassRate {
        /// Relative to the expected value.
        rtol: f64,
        /// In the unit of the elements.
        atol: f64,
        /// Share of the elements, 0 to 1.
        rate: f64,
        /// How many times the limit the worst element may be off.
        cap: f64,
    },
    /// `|a - e| <= rel * max(|e|, floor)` for at least `rate` of the elements, and `cap` times that for every one. The
    /// relative difference that operator acceptance tests use, with a floor so that values near zero do not decide.
    Floored {
        /// Largest relative difference.
        rel: f64,
        /// Expected values below it count as this large.
        floor: f64,
        /// Share of the elements, 0 to 1.
        rate: f64,
        /// How many times the limit the worst element may be off.
        cap: f64,
    },
    /// Elements are indices into the last axis of a tensor of scores. They may differ where the scores that they select are
    /// equal, or within this tolerance. Indices out of range and indices twice in a row are wrong whatever they select.
    TopK {
        /// Of the scores, relative.
        rtol: f64,
        /// Of the scores, absolute.
        atol: f64,
    },
    /// Integers that stand for `(q - zero_point) * scale`: at most `steps` quantization steps apart. Errors are reported
    /// in real units.
    Quantized {
        /// The value of one step.
        scale: f64,
        /// The integer that stands for 0.
        zero_point: i64,
        /// Steps that may be between them; 1 is what a tie rounded the other way makes.
        steps: u64,
    },
    /// Two runs of one kernel: the same bits in every element. Says nothing of whether either is right.
    Determinism,
    /// Limits on figures of the whole tensor; single elements are free, but for their class.
    Whole {
        /// Largest RMSE relative to the root mean square of the expected values; the relative L2 norm is the same.
        rmse: f64,
        /// Least coefficient of determination, `1 - sum (a - e)^2 / sum (e - mean e)^2`.
        r2: f64,
        /// Least cosine of the angle between the tensors, `sum a e / sqrt(sum a^2 * sum e^2)`.
        cosine: f64,
        /// Least ratio of signal to noise in dB, `10 log10(sum e^2 / sum (a - e)^2)`.
        snr: f64,
    },
}

impl Rule {
    /// The rule of a dtype when nothing is said: [`Close`](Self::Close) with the tolerance of the dtype.
    pub fn default_for(dtype: DType) -> Self {
        Self::Close(Tolerance::default_for(dtype))
    }

    /// Refuses numbers that make no sense.
    ///
    /// # Errors
    /// A limit that is negative or NaN, a rate outside of 0 to 1, a cap below 1, a scale that is not above 0, a rule of
    /// the whole tensor without any limit.
    pub fn check(&self) -> Result<(), Error> {
        let least = |what, found: f64, least: f64| {
            if found.is_finite() && found >= least { Ok(()) } else { Err(Error::Rule { what, found }) }
        };
        match *self {
            Self::Close(tolerance) => Tolerance::new(tolerance.rtol, tolerance.atol).map(|_| ()),
            Self::Exact | Self::BitExact | Self::Ulp { .. } | Self::Determinism => Ok(()),
            Self::PassRate { rtol, atol, rate, cap } => {
                Tolerance::new(rtol, atol)?;
                share(rate)?;
                least("cap", cap, 1.0)
            }
            Self::Floored { rel, floor, rate, cap } => {
                least("rel", rel, 0.0)?;
                least("floor", floor, 0.0)?;
                share(rate)?;
                least("cap", cap, 1.0)
            }
            Self::TopK { rtol, atol } => Tolerance::new(rtol, atol).map(|_| ()),
            Self::Quantized { scale, .. } => least("scale", scale, f64::MIN_POSITIVE),
            Self::Whole { rmse, r2, cosine, snr } => {
                let some = rmse < f64::INFINITY || [r2, cosine, snr].iter().any(|least| *least > f64::NEG_INFINITY);
                let numbers = ![rmse, r2, cosine, snr].iter().any(|limit| limit.is_nan());
                if some && numbers && rmse >= 0.0 {
                    return Ok(());
                }
                Err(Error::Rule { what: "a limit of `whole`", found: rmse })
            }
        }
    }

    /// Whether it lets something pass that the default of the dtype would not, so that it needs a reason.
    pub fn is_looser_than_default(&self, dtype: DType) -> bool {
        let default = Tolerance::default_for(dtype);
        match *self {
            Self::Close(tolerance) => tolerance.is_looser_than(&default),
            Self::Exact | Self::BitExact | Self::Determinism => false,
            Self::Ulp { max } => max as f64 * epsilon(dtype) > default.rtol,
            Self::PassRate { .. } | Self::Whole { .. } => true,
            Self::Floored { rel, floor, rate, .. } => rate < 1.0 || rel > default.rtol || rel * floor > default.atol,
            Self::TopK { rtol, atol } => rtol > 0.0 || atol > 0.0,
            Self::Quantized { steps, .. } => steps > 1,
        }
    }

    /// What is doubtful about it.
    pub fn warnings(&self) -> Vec<String> {
        let atol = match *self {
            Self::Close(Tolerance { atol, .. }) | Self::PassRate { atol, .. } => atol,
            Self::Floored { rel, floor, .. } => rel * floor,
            _ => 0.0,
        };
        let loose = atol >= Tolerance::LOOSE_ATOL;
        let text = || format!("atol {atol:e}: a loose absolute tolerance can mark incorrect kernels as PASS");
        loose.then(text).into_iter().collect()
    }

    /// The tolerance that counts single elements as mismatches.
    pub(crate) fn tolerance(&self, dtype: DType) -> Tolerance {
        match *self {
            Self::Close(tolerance) => tolerance,
            Self::PassRate { rtol, atol, .. } | Self::TopK { rtol, atol } => Tolerance { rtol, atol },
            Self::Floored { rel, floor, .. } => Tolerance { rtol: rel, atol: rel * floor },
            Self::Quantized { scale, steps, .. } => Tolerance { rtol: 0.0, atol: steps as f64 * scale },
            Self::Whole { .. } => Tolerance::default_for(dtype),
            Self::Exact | Self::BitExact | Self::Ulp { .. } | Self::Determinism => Tolerance::EXACT,
        }
    }
}

fn share(rate: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&rate) { Ok(()) } else { Err(Error::Rule { what: "rate", found: rate }) }
}

/// Between 1 and the next value of a float type; 1 for integers.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::Bf16 => 2f64.powi(-7),
        DType::F32 => 2f64.powi(-23),
        DType::F64 => 2f64.powi(-52),
        DType::Hf32 => 2f64.powi(-11),
        DType::F8E4M3 | DType::HiF8 => 0.125,
        DType::F8E5M2 => 0.25,
        DType::F4E2M1 => 0.5,
        DType::F4E1M2 => 0.25,
        _ => 1.0,
    }
}

/// `rtol 1e-3, atol 1e-5`, `at most 1 ULP`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Close(tolerance) => tolerance.fmt(f),
            Self::Exact => f.write_str("exact"),
            Self::BitExact => f.write_str("bit-exact"),
            Self::Ulp { max } => write!(f, "at most {max} ULP"),
            Self::PassRate { rtol, atol, rate, cap } => {
                let tolerance = Tolerance { rtol, atol };
                write!(f, "{tolerance} for {} %, none beyond {cap} times that", percent(rate))
            }
            Self::Floored { rel, floor, rate, cap } => {
                write!(f, "relative difference {rel:e} above {floor:e}")?;
                if rate < 1.0 { write!(f, " for {} %, none beyond {cap} times that", percent(rate)) } else { Ok(()) }
            }
            Self::TopK { rtol, atol } if rtol == 0.0 && atol == 0.0 => f.write_str("top-k, ties of equal scores"),
            Self::TopK { rtol, atol } => write!(f, "top-k, ties of scores within {}", Tolerance { rtol, atol }),
            Self::Quantized { scale, zero_point, steps } => {
                write!(f, "at most {steps} quantization steps of {scale:e}, zero point {zero_point}")
            }
            Self::Determinism => f.write_str("the same bits in each run"),
            Self::Whole { rmse, r2, cosine, snr } => whole(f, rmse, [("R2", r2), ("cosine", cosine), ("SNR", snr)]),
        }
    }
}

fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

fn whole(f: &mut fmt::Formatter<'_>, rmse: f64, least: [(&str, f64); 3]) -> fmt::Result {
    let mut parts = Vec::new();
    parts.extend((rmse < f64::INFINITY).then(|| format!("relative RMSE at most {rmse:e}")));
    parts.extend(
        least.iter().filter(|(_, limit)| limit.is_finite()).map(|(what, limit)| format!("{what} at least {limit}")),
    );
    f.write_str(&parts.join(", "))
}
