//! The arithmetic of single elements, with NumPy's conventions.

use super::ast::BinaryOp;
use super::function::{Map, Zip};

/// Why an exact integer has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Overflow,
    DivisionByZero,
}

/// Two doubles to one. Comparisons and `@` are not among these.
pub(super) fn real(op: BinaryOp) -> fn(f64, f64) -> f64 {
    match op {
        BinaryOp::Add => |a, b| a + b,
        BinaryOp::Sub => |a, b| a - b,
        BinaryOp::Mul => |a, b| a * b,
        BinaryOp::Div => |a, b| a / b,
        BinaryOp::FloorDiv => floor_div,
        BinaryOp::Rem => |a, b| divide(a, b).1,
        _ => f64::powf,
    }
}

/// Two exact integers to one.
pub(super) fn exact(op: BinaryOp) -> fn(i128, i128) -> Result<i128, Trouble> {
    match op {
        BinaryOp::Add => |a, b| a.checked_add(b).ok_or(Trouble::Overflow),
        BinaryOp::Sub => |a, b| a.checked_sub(b).ok_or(Trouble::Overflow),
        BinaryOp::FloorDiv => |a, b| Ok(int_divide(a, b)?.0),
        BinaryOp::Rem => |a, b| Ok(int_divide(a, b)?.1),
        BinaryOp::Pow => |a, b| {
            let exponent = u32::try_from(b).map_err(|_| Trouble::Overflow)?;
            a.checked_pow(exponent).ok_or(Trouble::Overflow)
        },
        _ => |a, b| a.checked_mul(b).ok_or(Trouble::Overflow),
    }
}

/// A comparison, for integers and doubles alike.
pub(super) fn compare<T: PartialOrd>(op: BinaryOp, a: &T, b: &T) -> bool {
    match op {
        BinaryOp::Less => a < b,
        BinaryOp::LessEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterEqual => a >= b,
        BinaryOp::Equal => a == b,
        _ => a != b,
    }
}

/// Quotient before the last rounding, and remainder with the sign of the divisor.
fn divide(a: f64, b: f64) -> (f64, f64) {
    let remainder = a % b;
    let quotient = (a - remainder) / b;
    if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) {
        return (quotient - 1.0, remainder + b);
    }
    (quotient, if remainder == 0.0 { 0f64.copysign(b) } else { remainder })
}

/// NumPy's `//` of doubles: a division by zero gives an infinity or NaN.
fn floor_div(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    match divide(a, b).0.round() {
        0.0 => 0f64.copysign(a / b),
        quotient => quotient,
    }
}

fn int_divide(a: i128, b: i128) -> Result<(i128, i128), Trouble> {
    if b == 0 {
        return Err(Trouble::DivisionByZero);
    }
    let quotient = a.checked_div(b).ok_or(Trouble::Overflow)?;
    let remainder = a - quotient * b;
    if remainder != 0 && (remainder < 0) != (b < 0) {
        Ok((quotient - 1, remainder + b))
    } else {
        Ok((quotient, remainder))
    }
}

/// The larger; a NaN on either side wins.
pub(super) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller; a NaN on either side wins.
pub(super) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// `None` for what does not give a double.
pub(super) fn zip_real(zip: Zip) -> Option<fn(f64, f64) -> f64> {
    match zip {
        Zip::Maximum => Some(maximum),
        Zip::Minimum => Some(minimum),
        Zip::Pow => Some(f64::powf),
        Zip::LogicalAnd | Zip::LogicalOr => None,
    }
}

/// One double to one. `None` for what gives a truth value.
pub(super) fn map_real(map: Map) -> Option<fn(f64) -> f64> {
    Some(match map {
        Map::Abs => f64::abs,
        Map::Ceil => f64::ceil,
        Map::Erf => libm::erf,
        Map::Exp => f64::exp,
        Map::Floor => f64::floor,
        // `erfc` of the mirrored argument: `1 + erf(x)` would cancel for negative x.
        Map::Gelu => |x| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        Map::Log => f64::ln,
        Map::Relu => |x| maximum(x, 0.0),
        Map::Round => f64::round_ties_even,
        Map::Rsqrt => |x| 1.0 / x.sqrt(),
        Map::Sigmoid => sigmoid,
        Map::Sign => |x| if x == 0.0 || x.is_nan() { x } else { x.signum() },
        Map::Silu => |x| x * sigmoid(x),
        Map::Sqrt => f64::sqrt,
        Map::Tanh => f64::tanh,
        Map::Trunc => f64::trunc,
        Map::IsFinite | Map::IsNan | Map::LogicalNot => return None,
    })
}

/// One exact integer to one. `None` for what leaves the integers.
pub(super) fn map_int(map: Map) -> Option<fn(i128) -> Result<i128, Trouble>> {
    Some(match map {
        Map::Abs => |x| x.checked_abs().ok_or(Trouble::Overflow),
        Map::Ceil | Map::Floor | Map::Round | Map::Trunc => Ok,
        Map::Relu => |x| Ok(x.max(0)),
        Map::Sign => |x| Ok(x.signum()),
        _ => return None,
    })
}

/// Exponentials of negative numbers only, so that nothing overflows.
fn sigmoid(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}
