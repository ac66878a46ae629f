//! Where the wrong elements are: head, tail, a block, one block in so many, rows, columns, a tile.

use super::sight::Sight;
use super::{Kind, Pattern};

/// In a part that is wrong as a whole, at least so many elements are wrong. The others are right by chance.
const DENSE: f64 = 0.5;

/// The simplest place that holds every wrong element and hardly a right one.
pub(super) fn find(sight: &Sight<'_>) -> Option<Pattern> {
    if sight.wrong_count == sight.len || sight.len < 4 {
        return None;
    }
    let held = held(sight);
    let (rows, width) = sight.rows();
    if rows > 1 && width > 1 {
        if let Some(found) = by_rows(sight, rows, width).or_else(|| by_columns(sight, rows, width)) {
            return Some(found.pattern(&held));
        }
    }
    let runs = Runs::of(&sight.wrong);
    runs.place(sight.len, "elements", 1)
        .or_else(|| tile(sight, rows, width))
        .map(|found| found.pattern(&held))
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
        return "; they are NaN".to_owned();
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

fn by_rows(sight: &Sight<'_>, rows: usize, width: usize) -> Option<Place> {
    let counts: Vec<usize> =
        sight.wrong.chunks(width).map(|row| row.iter().filter(|wrong| **wrong).count()).collect();
    let parts = whole_parts(&counts, width)?;
    let mut place = Runs::of(&parts).place(rows, "rows", width)?;
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
    let mut place = Runs::of(&parts).place(width, "columns", 1)?;
    if place.kind == Kind::Tail {
        place.kind = Kind::RowTail;
    }
    Some(place)
}

/// A rectangle of rows and columns.
fn tile(sight: &Sight<'_>, rows: usize, width: usize) -> Option<Place> {
    if rows < 2 || width < 2 {
        return None;
    }
    let (mut top, mut bottom, mut left, mut right) = (rows, 0, width, 0);
    for (at, _) in sight.wrong.iter().enumerate().filter(|(_, wrong)| **wrong) {
        let (row, column) = (at / width, at % width);
        (top, bottom) = (top.min(row), bottom.max(row));
        (left, right) = (left.min(column), right.max(column));
    }
    let area = (bottom - top + 1) * (right - left + 1);
    let dense = sight.wrong_count as f64 > DENSE * area as f64;
    (dense && area > 1 && area < sight.len).then(|| Place {
        kind: Kind::Tile,
        text: format!("rows {top} to {bottom}, columns {left} to {right}"),
    })
}

/// Stretches of wrong parts.
struct Runs {
    /// First part and the one behind the last.
    runs: Vec<(usize, usize)>,
}

impl Runs {
    /// Parts that are right between wrong ones are taken as right by chance if they are few for the stretch: gaps are
    /// closed from the smallest on while what is closed stays mostly wrong.
    fn of(wrong: &[bool]) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, _) in wrong.iter().enumerate().filter(|(_, wrong)| **wrong) {
            match runs.last_mut() {
                Some(last) if last.1 == at => last.1 = at + 1,
                _ => runs.push((at, at + 1)),
            }
        }
        for gap in [1, 2, 3, 4, 6, 8] {
            let longest = runs.iter().map(|(start, end)| end - start).max().unwrap_or(0);
            if longest < 8 * gap {
                break;
            }
            let mut closed: Vec<(usize, usize)> = Vec::with_capacity(runs.len());
            for run in runs {
                match closed.last_mut() {
                    Some(last) if run.0 - last.1 <= gap => last.1 = run.1,
                    _ => closed.push(run),
                }
            }
            runs = closed;
        }
        Self { runs }
    }

    /// `parts` of them there are in all, each of so many elements.
    fn place(&self, parts: usize, name: &str, elements: usize) -> Option<Place> {
        let place = |kind, text: String| Some(Place { kind, text });
        let numbered = |start: usize, end: usize| match end - start {
            1 => format!("{} {start} of {parts}", name.trim_end_matches('s')),
            _ => format!("{name} {start} to {} of {parts}", end - 1),
        };
        match self.runs.as_slice() {
            [] => None,
            [(0, end)] if *end == parts => None,
            [(0, end)] => place(Kind::Head, numbered(0, *end)),
            [(start, end)] if *end == parts => place(Kind::Tail, numbered(*start, *end)),
            [(start, end)] if (end - start) * elements > 1 => place(Kind::Block, numbered(*start, *end)),
            [_] => None,
            runs => {
                let (period, phase, length) = period(runs, parts)?;
                let every = format!("{length} {name} of every {period}, from {phase} on");
                place(Kind::Periodic, every)
            }
        }
    }
}

/// Period, phase and length of stretches that come back regularly. The first and the last may be cut off at the ends.
fn period(runs: &[(usize, usize)], parts: usize) -> Option<(usize, usize, usize)> {
    let length = |run: &(usize, usize)| run.1 - run.0;
    let mut lengths: Vec<usize> = runs.iter().map(length).collect();
    lengths.sort_unstable();
    let usual = lengths[lengths.len() / 2];
    let mut steps: Vec<usize> = runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    steps.sort_unstable();
    let period = steps[steps.len() / 2];
    let phase = runs[0].0;
    // By chance the ends of a stretch may be right: a little slack for long ones.
    let slack = usual / 16;
    let regular = runs.iter().enumerate().all(|(index, run)| {
        let start_fits = run.0.abs_diff(phase + index * period) <= slack;
        let cut = run.1 == parts;
        start_fits && (length(run).abs_diff(usual) <= slack || (cut && length(run) <= usual))
    });
    let complete = phase < period + slack && phase + runs.len() * period + usual > parts.min(phase + runs.len() * period);
    let last = runs[runs.len() - 1].0;
    let reaches_end = last + period + slack >= parts.saturating_sub(usual.saturating_sub(1));
    (regular && complete && reaches_end && period > usual).then_some((period, phase, usual))
}
