//! Faults that show in what the elements hold, wherever they are.

use super::sight::Sight;
use super::{Kind, Pattern};
use crate::{DType, Tensor};

/// Nearly all: a few elements are right, or like it, by chance.
const NEARLY_ALL: f64 = 0.98;

/// The whole output holds nothing of what it should.
pub(super) fn everywhere(sight: &Sight<'_>) -> Option<Pattern> {
    if sight.len < 2 {
        return None;
    }
    if (0..sight.len).all(|at| sight.is_unwritten(at)) {
        return Some(Pattern::new(Kind::NeverWritten, "the fill pattern survives in every element"));
    }
    let first = sight.a(0);
    if !first.is_nan() && (0..sight.len).all(|at| sight.a(at) == first) {
        return Some(match first {
            0.0 => Pattern::new(Kind::AllZero, format!("all {} elements are 0", sight.len)),
            value => {
                let fresh = match sight.bytes_of(sight.actual, 0).iter().all(|byte| *byte == 0xFF) {
                    true => ", as on-chip memory is on the CPU before something is in it",
                    false => "",
                };
                Pattern::new(Kind::Constant, format!("all {} elements are {value}{fresh}", sight.len))
            }
        });
    }
    if (0..sight.len).all(|at| sight.a(at).is_nan() && !sight.is_unwritten(at)) {
        return Some(Pattern::new(Kind::AllNan, format!("all {} elements are NaN", sight.len)));
    }
    reinterpreted(sight)
}

/// What some elements hold, which says more than where they are.
pub(super) fn some(sight: &Sight<'_>) -> Option<Pattern> {
    nan_rows(sight).or_else(|| saturated(sight)).or_else(|| rounding(sight))
}

/// The bits are those of the right values in another type.
fn reinterpreted(sight: &Sight<'_>) -> Option<Pattern> {
    let dtype = sight.expected.dtype();
    if sight.wrong_share() < 0.25 || !sight.is_telling() {
        return None;
    }
    let same_size = DType::ALL.into_iter().filter(|other| *other != dtype && other.size() == dtype.size());
    for other in same_size.filter(|other| other.bits() == dtype.bits() && *other != DType::Hf32) {
        let Ok(read) = Tensor::new(other, sight.expected.shape(), sight.actual.bytes().to_vec()) else { continue };
        let tolerance = |e: f64| 0.02 * e.abs() + 1e-5; // the other type may be coarser
        let value = |at: usize| read.get(at).map_or(f64::NAN, super::sight::to_f64);
        if sight.share(|at| (value(at) - sight.e(at)).abs() <= tolerance(sight.e(at))) > NEARLY_ALL {
            return Some(Pattern::new(Kind::Reinterpreted, format!("read as {other} the elements are right")));
        }
    }
    wider(sight, dtype)
}

/// The buffer holds elements of another size: the first ones, or every so many bytes.
fn wider(sight: &Sight<'_>, dtype: DType) -> Option<Pattern> {
    let others = [DType::F32, DType::F16, DType::Bf16, DType::F64, DType::I32, DType::I8, DType::I16];
    for other in others.into_iter().filter(|other| other.size() != dtype.size()) {
        let count = sight.actual.bytes().len() / other.size();
        let bytes = sight.actual.bytes()[..count * other.size()].to_vec();
        let Ok(read) = Tensor::new(other, [count], bytes) else { continue };
        let checked = count.min(sight.len).min(4096);
        if checked < 8 {
            continue;
        }
        let value = |at: usize| read.get(at).map_or(f64::NAN, super::sight::to_f64);
        let close = |at: &usize| (value(*at) - sight.e(*at)).abs() <= 0.02 * sight.e(*at).abs() + 1e-5;
        let matching = (0..checked).filter(close).count();
        if matching as f64 > NEARLY_ALL * checked as f64 {
            let evidence = format!("read as {other} the first {} elements are right", count.min(sight.len));
            return Some(Pattern::new(Kind::Reinterpreted, evidence));
        }
    }
    None
}

/// NaN fills rows, and nothing else is wrong.
fn nan_rows(sight: &Sight<'_>) -> Option<Pattern> {
    let (rows, width) = sight.rows();
    if rows < 2 || width < 2 || sight.share(|at| sight.a(at).is_nan() && !sight.is_unwritten(at)) < NEARLY_ALL {
        return None;
    }
    let is_bad = |row: &usize| sight.wrong[row * width..(row + 1) * width].iter().all(|wrong| *wrong);
    let bad: Vec<usize> = (0..rows).filter(is_bad).collect();
    if bad.is_empty() || bad.len() * width != sight.wrong_count || bad.len() == rows {
        return None;
    }
    let evidence = match bad.as_slice() {
        [one] => format!("row {one} of {rows} is NaN, and nothing else is wrong"),
        [first, ..] => format!("{} of {rows} rows are NaN, the first of them {first}", bad.len()),
        [] => String::new(),
    };
    Some(Pattern::new(Kind::NanRows, evidence))
}

/// The wrong elements stand at one limit each way, and should lie beyond it.
fn saturated(sight: &Sight<'_>) -> Option<Pattern> {
    let limit = |sign: f64| {
        let of_sign = sight.sample.iter().map(|at| sight.a(*at)).filter(|a| a.is_finite() && a * sign > 0.0);
        of_sign.map(f64::abs).reduce(f64::max)
    };
    let (up, down) = (limit(1.0), limit(-1.0));
    let at_limit = |at: usize| {
        let (a, e) = (sight.a(at), sight.e(at));
        let limit = if a > 0.0 { up } else { down };
        a.is_finite() && limit.is_some_and(|limit| a.abs() == limit && e.abs() > limit && e.signum() == a.signum())
    };
    if sight.sample.len() < 2 || sight.share(at_limit) < NEARLY_ALL {
        return None;
    }
    // No right element may be beyond the limit either.
    let step = (sight.len / 4096).max(1);
    let beyond = |at: usize| !sight.wrong[at] && up.is_some_and(|up| sight.a(at) > up);
    if (0..sight.len).step_by(step).any(beyond) {
        return None;
    }
    let text = |limit: Option<f64>, sign: &str| limit.map(|limit| format!("{sign}{limit}"));
    let limits: Vec<String> = text(up, "").into_iter().chain(text(down, "-")).collect();
    Some(Pattern::new(Kind::Saturated, format!("the wrong elements are {}, and should be beyond", limits.join(" or "))))
}

/// Every error is a few units in the last place.
fn rounding(sight: &Sight<'_>) -> Option<Pattern> {
    /// More than these many units in the last place no single rounding makes.
    const FEW: f64 = 6.0;
    let unit = match sight.expected.dtype() {
        DType::F16 => 2f64.powi(-10),
        DType::Bf16 => 2f64.powi(-7),
        DType::F32 => 2f64.powi(-23),
        DType::F64 => 2f64.powi(-52),
        dtype if dtype.int_range().is_some() && dtype != DType::Bool => 0.0,
        _ => return None,
    };
    let units = |at: usize| {
        let (a, e) = (sight.a(at), sight.e(at));
        if unit == 0.0 {
            return if (a - e).abs() <= 1.0 { 1.0 } else { f64::INFINITY };
        }
        let smallest = if sight.expected.dtype() == DType::F16 { 2f64.powi(-14) } else { f64::MIN_POSITIVE };
        (a - e).abs() / (2f64.powf(e.abs().max(smallest).log2().floor()) * unit)
    };
    let worst =
        sight.sample.iter().map(|at| units(*at)).fold(0.0, |worst, units| if units > worst { units } else { worst });
    let finite = sight.sample.iter().all(|at| sight.a(*at).is_finite());
    if !finite || worst > FEW {
        return None;
    }
    let towards_zero = sight.share(|at| sight.a(at).abs() < sight.e(at).abs());
    let bias = match towards_zero {
        share if share > 0.95 => ", all towards zero: truncated instead of rounded",
        share if share < 0.05 => ", all away from zero",
        _ => "",
    };
    Some(Pattern::new(Kind::Rounding, format!("no error is above {worst:.1} units in the last place{bias}")))
}

/// A few elements here and there.
pub(super) fn scattered(sight: &Sight<'_>) -> Option<Pattern> {
    let few = sight.wrong_share() < 0.25 && sight.len >= 64;
    let evidence = || format!("{} of {} elements, without a pattern in where they are", sight.wrong_count, sight.len);
    few.then(|| Pattern::new(Kind::Scattered, evidence()))
}
