//! Faults in which the right values are there, elsewhere or changed.

use super::sight::Sight;
use super::{Kind, Pattern};

const NEARLY_ALL: f64 = 0.97;

/// What turns the expected tensor into the actual one.
pub(super) fn find(sight: &Sight<'_>) -> Option<Pattern> {
    if sight.wrong_share() < 0.3 || sight.sample.len() < 4 {
        return None;
    }
    let first = sight.a(sight.sample[0]);
    if sight.share(|at| sight.a(at) == first) > NEARLY_ALL {
        return None; // one value everywhere was not computed from what was expected
    }
    negated(sight)
        .or_else(|| reciprocal(sight))
        .or_else(|| factor(sight))
        .or_else(|| moved(sight))
        .or_else(|| offset(sight))
}

/// Whether it says that right values are at other places.
pub(super) fn is_move(pattern: &Pattern) -> bool {
    let moves = [Kind::Transposed, Kind::Shifted, Kind::SwappedHalves, Kind::SwappedPairs];
    moves.iter().any(|kind| kind.entry().id == pattern.id)
}

fn negated(sight: &Sight<'_>) -> Option<Pattern> {
    (sight.share(|at| sight.near(-sight.a(at), sight.e(at))) > NEARLY_ALL)
        .then(|| Pattern::new(Kind::Negated, "every wrong element is minus what was expected"))
}

fn reciprocal(sight: &Sight<'_>) -> Option<Pattern> {
    let inverse = |at: usize| {
        let (a, e) = (sight.a(at), sight.e(at));
        if e == 0.0 { a.is_infinite() } else { (a * e - 1.0).abs() < 0.01 }
    };
    let differ = sight.share(|at| (sight.e(at).abs() - 1.0).abs() > 0.05) > 0.5;
    (differ && sight.share(inverse) > NEARLY_ALL)
        .then(|| Pattern::new(Kind::Reciprocal, "every wrong element is 1 over what was expected"))
}

/// The median of the ratios, if nearly all are like it.
fn factor(sight: &Sight<'_>) -> Option<Pattern> {
    let large = sight.sample.iter().map(|at| sight.e(*at).abs()).filter(|e| e.is_finite()).fold(0.0, f64::max);
    // Where the expected value is small the ratio is mostly rounding.
    let telling = |at: &&usize| sight.e(**at).abs() > 0.05 * large && sight.a(**at).is_finite();
    let mut ratios: Vec<f64> = sight.sample.iter().filter(telling).map(|at| sight.a(*at) / sight.e(*at)).collect();
    if ratios.len() < 8 {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let off = if sight.expected.dtype().is_float() { 0.02 } else { 0.1 };
    let alike = ratios.iter().filter(|other| (*other / ratio - 1.0).abs() < off).count();
    let spread = sight.is_telling() && ratio.abs() > 1e-6 && (ratio - 1.0).abs() > 2.0 * off.min(0.02);
    (spread && alike as f64 > NEARLY_ALL * ratios.len() as f64)
        .then(|| Pattern::new(Kind::Factor, format!("every wrong element is {} times what was expected", shown(ratio))))
}

fn offset(sight: &Sight<'_>) -> Option<Pattern> {
    let mut differences: Vec<f64> =
        sight.sample.iter().map(|at| sight.a(*at) - sight.e(*at)).filter(|difference| difference.is_finite()).collect();
    if differences.len() < 8 || differences.len() < sight.sample.len() / 2 || !sight.is_telling() {
        return None;
    }
    differences.sort_by(f64::total_cmp);
    let middle = differences[differences.len() / 2];
    let alike = differences.iter().filter(|other| (*other - middle).abs() < 0.02 * middle.abs()).count();
    (alike as f64 > NEARLY_ALL * differences.len() as f64)
        .then(|| Pattern::new(Kind::Offset, format!("every wrong element is off by {}", shown(middle))))
}

/// Four digits, as few as say it.
fn shown(value: f64) -> String {
    format!("{}", format!("{value:.3e}").parse::<f64>().unwrap_or(value))
}

/// The right values at other places. `from` says where an element came from.
fn moved(sight: &Sight<'_>) -> Option<Pattern> {
    if !sight.is_telling() {
        return None;
    }
    let comes_from = |from: &dyn Fn(usize) -> Option<usize>| {
        let known: Vec<(usize, usize)> = sight.sample.iter().filter_map(|at| Some((*at, from(*at)?))).collect();
        let right = known.iter().filter(|(at, from)| sight.near(sight.a(*at), sight.e(*from))).count();
        known.len() * 2 > sight.sample.len() && right as f64 > NEARLY_ALL * known.len() as f64
    };
    let (rows, width) = sight.rows();
    if rows > 1 && width > 1 {
        let matrix = sight.expected.shape()[..sight.expected.shape().len() - 1].last().copied().unwrap_or(1);
        // The bytes of the transposed matrix, in each matrix of a stack.
        let from = |at: usize| {
            let (stack, inside) = (at / (matrix * width), at % (matrix * width));
            Some(stack * matrix * width + inside % matrix * width + inside / matrix)
        };
        if matrix > 1 && comes_from(&from) {
            return Some(Pattern::new(Kind::Transposed, format!("each {matrix} x {width} matrix holds its transpose")));
        }
    }
    for (what, length) in [("each row", width), ("the tensor", sight.len)] {
        if length % 2 == 0 && length > 2 {
            let half = length / 2;
            let from = |at: usize| Some(at / length * length + (at % length + half) % length);
            if comes_from(&from) {
                return Some(Pattern::new(
                    Kind::SwappedHalves,
                    format!("the halves of {what} are swapped ({half} elements)"),
                ));
            }
        }
    }
    if comes_from(&|at| Some(at ^ 1).filter(|from| *from < sight.len)) {
        return Some(Pattern::new(Kind::SwappedPairs, "every two neighbours are swapped"));
    }
    let shift = shift(sight)?;
    let from = |at: usize| at.checked_add_signed(-shift).filter(|from| *from < sight.len);
    let along = |by: isize| {
        let (rows, elements) = (by / width as isize, by % width as isize);
        if rows != 0 && elements == 0 && width > 1 {
            format!("{} rows", rows.abs())
        } else {
            format!("{} elements", by.abs())
        }
    };
    let direction = if shift > 0 { "behind" } else { "before" };
    comes_from(&from)
        .then(|| Pattern::new(Kind::Shifted, format!("every element stands {} {direction} its place", along(shift))))
}

/// How far a run of elements in the middle stands from where it belongs.
fn shift(sight: &Sight<'_>) -> Option<isize> {
    const RUN: usize = 6;
    /// Farther is looked only in tensors that are not larger.
    const FAR: usize = 1 << 16;
    if sight.len < 4 * RUN {
        return None;
    }
    for anchor in [sight.len / 2, sight.len / 3, sight.len / 4 * 3] {
        let anchor = anchor.min(sight.len - RUN);
        let run: Vec<f64> = (anchor..anchor + RUN).map(|at| sight.a(at)).collect();
        let telling = run.windows(2).any(|pair| pair[0] != pair[1]);
        let (from, to) = (anchor.saturating_sub(FAR), (anchor + FAR).min(sight.len - RUN));
        let matches = |start: &usize| run.iter().enumerate().all(|(i, a)| sight.near(*a, sight.e(start + i)));
        let nearest =
            (from..=to).filter(|start| *start != anchor).filter(matches).min_by_key(|start| start.abs_diff(anchor));
        if let Some(start) = nearest.filter(|_| telling) {
            return Some(anchor as isize - start as isize);
        }
    }
    None
}
