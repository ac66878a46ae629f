//! What a picture of a wrong tensor is drawn from: a coarse map of where it is wrong, and some of its elements.

use super::report::Point;
use crate::pattern::Sight;

/// Most lines and columns of a map.
const LINES: usize = 32;
const COLUMNS: usize = 64;
/// Elements of a plot.
const POINTS: usize = 400;

/// The share of wrong elements in each part, as digits.
pub(super) fn map(sight: &Sight<'_>) -> Vec<String> {
    let (rows, width) = match sight.rows() {
        // A vector is broken into lines.
        (1, width) => {
            (width.div_ceil(COLUMNS * width.div_ceil(LINES * COLUMNS)), COLUMNS * width.div_ceil(LINES * COLUMNS))
        }
        rows => rows,
    };
    let (lines, columns) = (rows.min(LINES), width.min(COLUMNS));
    let mut wrong = vec![0usize; lines * columns];
    let mut all = vec![0usize; lines * columns];
    for (at, is_wrong) in sight.wrong.iter().enumerate() {
        let (line, column) = (at / width * lines / rows, at % width * columns / width);
        let cell = line.min(lines - 1) * columns + column;
        all[cell] += 1;
        wrong[cell] += usize::from(*is_wrong);
    }
    let digit = |(wrong, all): (&usize, &usize)| match all {
        0 => ' ',
        all => char::from(b'0' + (9 * wrong).div_ceil(*all) as u8),
    };
    let cells: Vec<char> = wrong.iter().zip(&all).map(digit).collect();
    cells.chunks(columns).map(|line| line.iter().collect()).collect()
}

/// Elements spread over the tensor, and as many of the wrong ones.
pub(super) fn points(sight: &Sight<'_>) -> Vec<Point> {
    let step = (sight.len / (POINTS / 2)).max(1) | 1;
    let spread = (0..sight.len).step_by(step);
    let point = |at: usize| Point { expected: sight.e(at), actual: sight.a(at), wrong: sight.wrong[at] };
    let wrong = sight.sample.iter().copied().step_by((sight.sample.len() / (POINTS / 2)).max(1));
    let finite = |point: &Point| point.expected.is_finite() && point.actual.is_finite();
    spread.chain(wrong).map(point).filter(finite).collect()
}
