//! Where the wrong elements are: head, tail, a block, one block in so many, rows, columns, a tile.

use super::sight::Sight;
use super::{Division, Kind, Pattern};

/// In a part that is wrong as a whole, at least so many elements are wrong. The others are right by chance.
const DENSE: f64 = 0.3;

/// The simplest place that holds every wrong element and hardly a right one.
pub(super) fn find(sight: &Sight<'_>) -> Option<Pattern> {
    if sight.wrong_count == sight.len || sight.len < 4 {
        return None;
    }
    let held = held(sight);
    let (rows, width) = sight.rows();
    if rows > 1 && width > 1 {
        let found = end_of_a_row(sight, width)
            .or_else(|| tile(sight, rows, width))
            .or_else(|| by_rows(sight, width))
            .or_else(|| by_columns(sight, rows, width));
        if let Some(found) = found {
            return Some(found.pattern(&held));
        }
    }
    place(&sight.wrong, "elements", 1).map(|found| found.pattern(&held))
}

/// Whole tiles at the end of the output, and nothing else: whoever divided it knows more of that than its elements show.
pub(super) fn whole_tiles(sight: &Sight<'_>, division: Division) -> Option<Pattern> {
    let Division { tile, cores } = division;
    let first = sight.wrong.iter().position(|wrong| *wrong)?;
    let missing = sight.len - first;
    // A first element that is right by chance hides where the tile begins.
    let start = first - first % tile;
    let dense = sight.wrong_count as f64 > DENSE * missing as f64;
    let to_the_end = sight.wrong.iter().rev().position(|wrong| *wrong)? <= tile / 8;
    if start == 0 || (first - start) > tile / 8 || sight.len - start < tile || !dense || !to_the_end {
        return None;
    }
    let len = sight.len;
    let text = if cores.checked_mul(tile) == Some(start) {
        format!(
            "elements {start} to {} of {len}: all but the first tile of {tile} of each of the {cores} cores",
            len - 1
        )
    } else if len.is_multiple_of(tile) {
        let count = (len - start) / tile;
        let tiles = if count == 1 { "the last tile".to_owned() } else { format!("the last {count} tiles") };
        format!("elements {start} to {} of {len}: {tiles} of {tile}, and the last one is full", len - 1)
    } else {
        return None;
    };
    Some(Place { kind: Kind::WholeTiles, text }.pattern(&held(sight)))
}

/// A place in words.
struct Place {
    kind: Kind,
    text: String,
}

impl Place {
    fn pattern(self, held: &str) -> Pattern {
        Pattern::new(self.kind, format!("{}{held}", self.text))
    }
}

/// What the wrong elements hold, if they hold one thing.
fn held(sight: &Sight<'_>) -> String {
    let most = |is: &dyn Fn(usize) -> bool| sight.share(is) > 0.95;
    if most(&|at| sight.is_unwritten(at)) {
        return "; they still hold the fill pattern".to_owned();
    }
    if most(&|at| sight.a(at) == 0.0) {
        return "; they are 0".to_owned();
    }
    if most(&|at| sight.a(at).is_nan()) {
        return "; they are NaN, as on-chip memory is on the CPU before something is in it".to_owned();
    }
    String::new()
}

/// Parts in order that are each wrong or right as a whole; `None` if some are neither.
fn whole_parts(counts: &[usize], size: usize) -> Option<Vec<bool>> {
    let filled: Vec<usize> = counts.iter().copied().filter(|count| *count > 0).collect();
    let mean = filled.iter().sum::<usize>() as f64 / filled.len().max(1) as f64;
    let dense = mean >= DENSE * size as f64;
    let bad = |count: &usize| *count as f64 > 0.25 * mean;
    let clean = counts.iter().all(|count| bad(count) || *count == 0);
    (dense && clean && filled.len() < counts.len()).then(|| counts.iter().map(bad).collect())
}

fn by_rows(sight: &Sight<'_>, width: usize) -> Option<Place> {
    let counts: Vec<usize> = sight.wrong.chunks(width).map(|row| row.iter().filter(|wrong| **wrong).count()).collect();
    let parts = whole_parts(&counts, width)?;
    let mut place = place(&parts, "rows", width)?;
    if place.kind == Kind::Periodic {
        place.kind = Kind::RowStripes;
    }
    Some(place)
}

fn by_columns(sight: &Sight<'_>, rows: usize, width: usize) -> Option<Place> {
    let mut counts = vec![0; width];
    for row in sight.wrong.chunks(width) {
        counts.iter_mut().zip(row).for_each(|(count, wrong)| *count += usize::from(*wrong));
    }
    let parts = whole_parts(&counts, rows)?;
    let mut place = place(&parts, "columns", 1)?;
    if place.kind == Kind::Tail {
        place.kind = Kind::RowTail;
    }
    Some(place)
}

/// Part of one row that is the end of the tensor, or its beginning: a kernel that takes a matrix for a vector leaves that.
fn end_of_a_row(sight: &Sight<'_>, width: usize) -> Option<Place> {
    let wrong = |at: &usize| sight.wrong[*at];
    let (first, last) = ((0..sight.len).find(wrong)?, (0..sight.len).rev().find(wrong)?);
    // A whole row is called by its number.
    let whole = first.is_multiple_of(width) && (last + 1).is_multiple_of(width);
    if first / width != last / width || last == first || whole {
        return None;
    }
    place(&sight.wrong, "elements", 1).filter(|place| matches!(place.kind, Kind::Tail | Kind::Head))
}

/// A rectangle of rows and columns.
fn tile(sight: &Sight<'_>, rows: usize, width: usize) -> Option<Place> {
    let (mut top, mut bottom, mut left, mut right) = (rows, 0, width, 0);
    for (at, _) in sight.wrong.iter().enumerate().filter(|(_, wrong)| **wrong) {
        let (row, column) = (at / width, at % width);
        (top, bottom) = (top.min(row), bottom.max(row));
        (left, right) = (left.min(column), right.max(column));
    }
    let area = (bottom - top + 1) * (right - left + 1);
    let dense = sight.wrong_count as f64 > DENSE * area as f64;
    // What reaches over nearly all rows or columns is no tile.
    let inner = 10 * (bottom - top + 1) < 9 * rows && 10 * (right - left + 1) < 9 * width;
    (dense && area > 1 && inner)
        .then(|| Place { kind: Kind::Tile, text: format!("rows {top} to {bottom}, columns {left} to {right}") })
}

/// Where the wrong parts are. Right ones between them may be right by chance: gaps are closed, the smallest first, until
/// what is left has a shape or is mostly right.
fn place(wrong: &[bool], name: &str, elements: usize) -> Option<Place> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in wrong.iter().enumerate().filter(|(_, wrong)| **wrong) {
        match runs.last_mut() {
            Some(last) if last.1 == at => last.1 = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    let count: usize = runs.iter().map(|(start, end)| end - start).sum();
    for gap in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24] {
        runs = closed(&runs, gap);
        let density = count as f64 / runs.iter().map(|(start, end)| end - start).sum::<usize>() as f64;
        if density < DENSE {
            return None;
        }
        let shape = Shape { runs: &runs, parts: wrong.len(), name, elements, by_chance: density < 0.95 };
        if let Some(place) = shape.place() {
            return Some(place);
        }
    }
    None
}

/// Stretches with gaps up to this closed.
fn closed(runs: &[(usize, usize)], gap: usize) -> Vec<(usize, usize)> {
    let mut closed: Vec<(usize, usize)> = Vec::with_capacity(runs.len());
    for run in runs {
        match closed.last_mut() {
            Some(last) if run.0 - last.1 <= gap => last.1 = run.1,
            _ => closed.push(*run),
        }
    }
    closed
}

/// Stretches of wrong parts.
struct Shape<'a> {
    /// First part and the one behind the last.
    runs: &'a [(usize, usize)],
    /// How many there are in all.
    parts: usize,
    name: &'a str,
    /// In one part.
    elements: usize,
    /// Some are right by chance, so that ends are not sharp.
    by_chance: bool,
}

impl Shape<'_> {
    fn place(&self) -> Option<Place> {
        let Self { parts, name, .. } = self;
        let place = |kind, text: String| Some(Place { kind, text });
        let numbered = |start: usize, end: usize| match end - start {
            1 => format!("{} {start} of {parts}", name.trim_end_matches('s')),
            _ => format!("{name} {start} to {} of {parts}", end - 1),
        };
        let slack = |length: usize| if self.by_chance { (length / 8).min(16) } else { 0 };
        match self.runs {
            [] => None,
            [(start, end)] => {
                let length = end - start;
                let (at_start, at_end) = (*start <= slack(length), *end + slack(length) >= *parts);
                match (at_start, at_end) {
                    (true, true) => None,
                    (true, false) => place(Kind::Head, numbered(0, *end)),
                    (false, true) => place(Kind::Tail, numbered(*start, *parts)),
                    (false, false) if length * self.elements > 1 => place(Kind::Block, numbered(*start, *end)),
                    (false, false) => None,
                }
            }
            runs => {
                // Two stretches that are ragged at their ends prove no period.
                let enough = runs.len() > 2 || !self.by_chance;
                let (period, phase, length) = period(runs, *parts).filter(|_| enough)?;
                let every = format!("{length} {name} of every {period}, from {phase} on");
                place(Kind::Periodic, every)
            }
        }
    }
}

/// Period, phase and length of stretches that come back regularly. The first and the last may be cut off at the ends.
fn period(runs: &[(usize, usize)], parts: usize) -> Option<(usize, usize, usize)> {
    let length = |run: &(usize, usize)| run.1 - run.0;
    let middle = |mut values: Vec<usize>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    let usual = middle(runs.iter().map(length).collect());
    let period = middle(runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect());
    let phase = runs[0].0;
    // By chance the ends of a stretch may be right: a little slack for long ones.
    let slack = usual / 8;
    let regular = runs.iter().enumerate().all(|(index, run)| {
        let start_fits = run.0.abs_diff(phase + index * period) <= slack;
        let cut = run.1 == parts;
        start_fits && (length(run).abs_diff(usual) <= slack || (cut && length(run) <= usual))
    });
    let last = runs[runs.len() - 1].0;
    let from_the_start = phase < period + slack;
    let to_the_end = last + period + slack >= parts.saturating_sub(usual.saturating_sub(1));
    (regular && from_the_start && to_the_end && period > usual).then_some((period, phase, usual))
}
