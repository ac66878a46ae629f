//! One element, whatever its type.

use std::fmt;

use serde::{Serialize, Serializer};

/// The value of one element, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// Of a floating-point dtype.
    Float(f64),
    /// Of an integer dtype.
    Int(i128),
    /// Of `bool`.
    Bool(bool),
}

/// As few digits as tell the value from its neighbours: of `f32` where it is one, as every f16 and bf16 is.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Float(value) => {
                let plain = !value.is_finite() || value == 0.0 || (1e-4..1e7).contains(&value.abs());
                let single = value as f32;
                match (f64::from(single) == value, plain) {
                    (true, true) => write!(f, "{single}"),
                    (true, false) => write!(f, "{single:e}"),
                    (false, true) => write!(f, "{value}"),
                    (false, false) => write!(f, "{value:e}"),
                }
            }
        }
    }
}

/// A number where JSON has one; `"NaN"`, `"inf"` and `"-inf"` where it does not.
impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Float(value) if value.is_finite() => serializer.serialize_f64(value),
            Self::Float(_) => serializer.collect_str(self),
            Self::Bool(value) => serializer.serialize_bool(value),
            Self::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.collect_str(self),
            },
        }
    }
}
