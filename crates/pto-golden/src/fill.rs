//! Inputs made from a recorded seed.
//!
//! The same fill, dtype, shape, seed and argument name give the same bytes on every machine: the generator is ChaCha8,
//! whose stream is specified, and logarithm and cosine come from `libm`, not from the platform. Each argument has a
//! stream of its own, so adding an argument leaves the others' values alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::element::with_element;
use crate::{DType, DTypeKind, Element, Error, Shape, Tensor};

/// How an input is filled. In TOML: `fill = { normal = { mean = 0.0, std = 1.0 } }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fill {
    /// Normal distribution.
    Normal {
        /// Its centre.
        mean: f64,
        /// Its standard deviation, at least 0.
        std: f64,
    },
    /// Uniform distribution over `[low, high)`; rounding to the dtype may reach `high`.
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Integers from `low` up to, not including, `high`, as NumPy counts.
    Integers {
        /// Smallest.
        low: i64,
        /// One more than the largest.
        high: i64,
    },
    /// Every element the same.
    Constant(Number),
    /// `start + i * step` for the element at `i` in row-major order.
    Arange {
        /// First element.
        #[serde(default = "Number::zero")]
        start: Number,
        /// Distance of neighbours.
        #[serde(default = "Number::one")]
        step: Number,
    },
}

/// A number as written: `3` stays an integer, so that 64-bit integers are exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// `true`
    Bool(bool),
    /// `3`
    Int(i64),
    /// `3.0`
    Float(f64),
}

impl Number {
    fn zero() -> Self {
        Self::Int(0)
    }

    fn one() -> Self {
        Self::Int(1)
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Bool(value) => value.into(),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// The value if it is whole.
    fn as_int(self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some(value.into()),
            Self::Int(value) => Some(value.into()),
            Self::Float(value) => (value.fract() == 0.0 && value.abs() < 2f64.powi(64)).then_some(value as i128),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl Fill {
    /// What an argument gets that asks for nothing: a standard normal for floats, small integers for integers.
    pub fn default_for(dtype: DType) -> Self {
        match dtype.kind() {
            _ if dtype == DType::I4 => Self::Integers { low: -8, high: 8 },
            _ if dtype == DType::F8E8M0 => Self::Uniform { low: 0.5, high: 8.0 }, // which has neither 0 nor a sign
            DTypeKind::Float => Self::Normal { mean: 0.0, std: 1.0 },
            DTypeKind::Signed => Self::Integers { low: -100, high: 100 },
            DTypeKind::Unsigned => Self::Integers { low: 0, high: 100 },
            DTypeKind::Bool => Self::Integers { low: 0, high: 2 },
        }
    }

    /// Refuses a fill that makes no sense for `dtype`, before any tensor is made.
    ///
    /// # Errors
    /// A negative or non-finite parameter, an empty range, or a value `dtype` cannot hold.
    pub fn check(&self, dtype: DType) -> Result<(), Error> {
        match *self {
            Self::Normal { mean, std } if !(mean.is_finite() && std.is_finite() && std >= 0.0) => {
                Err(Error::fill(format!("normal with mean {mean} and std {std}, expected finite and std >= 0")))
            }
            Self::Uniform { low, high } if !(low < high && (high - low).is_finite()) => {
                Err(Error::fill(format!("uniform from {low} to {high}, expected finite and low < high")))
            }
            Self::Integers { low, high } if low >= high => {
                Err(Error::fill(format!("integers from {low} to {high}, expected low < high")))
            }
            Self::Integers { low, high } => {
                fits(dtype, Number::Int(low), 0)?;
                fits(dtype, Number::Int(high - 1), 0)
            }
            Self::Constant(value) => fits(dtype, value, 0),
            Self::Arange { start, step } if !(start.as_f64().is_finite() && step.as_f64().is_finite()) => {
                Err(Error::fill(format!("arange from {start} by {step}, expected finite numbers")))
            }
            Self::Arange { start, step } => {
                fits(dtype, start, 0)?;
                if dtype.is_float() || step.as_int().is_some() {
                    return Ok(());
                }
                Err(Error::fill(format!("arange by {step}, expected a whole number for {dtype}")))
            }
            Self::Normal { .. } | Self::Uniform { .. } => Ok(()),
        }
    }

    /// The tensor.
    ///
    /// # Errors
    /// As [`check`](Self::check); also an arange that leaves the range of an integer dtype.
    pub fn generate(&self, dtype: DType, shape: impl Into<Shape>, seed: u64, name: &str) -> Result<Tensor, Error> {
        self.check(dtype)?;
        let shape = shape.into();
        let len = shape.elements(dtype)?;
        if let Self::Arange { start, step } = *self {
            arange_fits(dtype, start, step, len)?;
        }
        let mut stream = Stream::new(seed, name);
        Ok(with_element!(dtype, T => {
            let make = self.maker::<T>(&mut stream);
            Tensor::collect(&shape.0, (0..len).map(make))
        }))
    }

    /// The element at an index; called once for each in order.
    fn maker<'a, T: Element>(&self, stream: &'a mut Stream) -> Box<dyn FnMut(usize) -> T + 'a> {
        match *self {
            Self::Normal { mean, std } => Box::new(move |_| T::from_f64(mean + std * stream.normal())),
            Self::Uniform { low, high } => Box::new(move |_| T::from_f64(low + (high - low) * stream.uniform())),
            Self::Integers { low, high } => {
                let span = high.abs_diff(low);
                Box::new(move |_| T::from_i128(i128::from(low) + i128::from(stream.below(span))))
            }
            Self::Constant(value) => Box::new(move |_| match value.as_int() {
                Some(value) if !T::DTYPE.is_float() => T::from_i128(value),
                _ => T::from_f64(value.as_f64()),
            }),
            Self::Arange { start, step } => Box::new(move |i| match (start.as_int(), step.as_int()) {
                (Some(start), Some(step)) => T::from_i128(start + step * i as i128),
                _ => T::from_f64(start.as_f64() + step.as_f64() * i as f64),
            }),
        }
    }
}

/// Refuses a value that `dtype` cannot hold; `index` is the element it is for.
fn fits(dtype: DType, value: Number, index: usize) -> Result<(), Error> {
    let Some((low, high)) = dtype.int_range() else { return Ok(()) };
    match value.as_int() {
        Some(whole) if (low..=high).contains(&whole) => Ok(()),
        _ => Err(Error::fill(format!(
            "element {index} is {value}, expected a whole number from {low} to {high} ({dtype})"
        ))),
    }
}

fn arange_fits(dtype: DType, start: Number, step: Number, len: usize) -> Result<(), Error> {
    let (Some((low, high)), Some(start), Some(step)) = (dtype.int_range(), start.as_int(), step.as_int()) else {
        return Ok(());
    };
    let index = len.saturating_sub(1);
    let last = start + step * index as i128;
    if (low..=high).contains(&last) {
        return Ok(());
    }
    Err(Error::fill(format!("arange reaches {last} at element {index}, expected at most {low} to {high} ({dtype})")))
}

/// The random numbers of one argument.
struct Stream {
    generator: ChaCha8Rng,
    /// Box and Muller's method makes two at a time.
    spare: Option<f64>,
}

impl Stream {
    fn new(seed: u64, name: &str) -> Self {
        let key =
            Sha256::new().chain_update(b"pto-golden fill 1\0").chain_update(seed.to_le_bytes()).chain_update(name);
        Self { generator: ChaCha8Rng::from_seed(key.finalize().into()), spare: None }
    }

    /// In `[0, 1)`, a multiple of 2^-53.
    fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Standard normal.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform())); // 1 - u is never 0
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * self.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// In `[0, bound)`, each equally likely: draws that would favour the small ones are thrown away.
    fn below(&mut self, bound: u64) -> u64 {
        let uneven = (u64::MAX % bound + 1) % bound;
        loop {
            let draw = self.generator.next_u64();
            if draw <= u64::MAX - uneven {
                return draw % bound;
            }
        }
    }
}
