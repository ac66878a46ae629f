//! Pictures as SVG. Colours are those of the page's style, with a fallback for a file of its own.

use std::fmt::Write as _;

use crate::compare::{Bucket, Point};

/// A drawing.
pub(super) struct Svg {
    /// The element.
    pub(super) text: String,
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 260.0;
/// Room for numbers at the left and below.
const LEFT: f64 = 58.0;
const BELOW: f64 = 34.0;
const TOP: f64 = 10.0;

const INK: &str = "var(--ink, #1b1f24)";
const SOFT: &str = "var(--soft, #5b6570)";
const LINE: &str = "var(--line, #d5dae0)";
const MARK: &str = "var(--mark, #2f6fb5)";
const BAD: &str = "var(--bad, #b3261e)";
const EMPTY: &str = "var(--empty, #e8ecf0)";

/// A file of its own needs to say what it is.
pub(super) fn standalone(svg: &Svg) -> Option<String> {
    let rest = svg.text.strip_prefix("<svg ")?;
    Some(format!("<svg xmlns=\"http://www.w3.org/2000/svg\" style=\"background:#fff\" {rest}\n"))
}

fn open(label: &str, width: f64, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" font-family=\"sans-serif\" font-size=\"12\">"
    )
}

fn close(mut text: String) -> Option<Svg> {
    text.push_str("</svg>");
    Some(Svg { text })
}

/// One rectangle for each stretch of equal cells.
pub(super) fn heat_map(map: &[String]) -> Option<Svg> {
    let columns = map.first()?.chars().count();
    let (cell_w, cell_h) = (WIDTH / columns as f64, (HEIGHT / map.len() as f64).min(WIDTH / columns as f64 * 4.0));
    let mut text = open("where it is wrong", WIDTH, cell_h * map.len() as f64);
    for (row, line) in map.iter().enumerate() {
        let cells: Vec<char> = line.chars().collect();
        let mut start = 0;
        for run in cells.chunk_by(|a, b| a == b) {
            let (fill, opacity) = match run[0].to_digit(10) {
                None => ("none", 1.0),
                Some(0) => (EMPTY, 1.0),
                Some(digit) => (BAD, 0.25 + 0.75 * f64::from(digit) / 9.0),
            };
            let _ = write!(
                text,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"/>",
                start as f64 * cell_w,
                row as f64 * cell_h,
                run.len() as f64 * cell_w,
                cell_h
            );
            start += run.len();
        }
    }
    close(text)
}

/// Counts on a logarithmic scale, by powers of two of the error.
pub(super) fn histogram(buckets: &[Bucket]) -> Option<Svg> {
    let most = buckets.iter().map(|bucket| bucket.count).max().filter(|most| *most > 0)?;
    let mut text = open("histogram of absolute errors", WIDTH, HEIGHT);
    let (width, height) = (WIDTH - LEFT - 8.0, HEIGHT - TOP - BELOW);
    let decades = (most as f64).log10().ceil().max(1.0);
    let level = |count: u64| if count == 0 { 0.0 } else { ((count as f64).log10() + 0.3) / (decades + 0.3) * height };
    for decade in 0..=decades as u32 {
        let y = TOP + height - level(10u64.pow(decade));
        let _ = write!(text, "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{LINE}\"/>");
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{SOFT}\">1e{decade}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let step = width / buckets.len() as f64;
    for (index, bucket) in buckets.iter().enumerate() {
        let (x, tall) = (LEFT + index as f64 * step, level(bucket.count));
        let _ = write!(
            text,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" fill=\"{MARK}\"><title>{:.1e} to {:.1e}: {}</title></rect>",
            TOP + height - tall,
            (step - 1.0).max(0.5),
            bucket.from,
            bucket.to,
            bucket.count
        );
    }
    let label = |bucket: &Bucket| if bucket.from == 0.0 { "0".to_owned() } else { format!("{:.0e}", bucket.from) };
    let shown = [0, buckets.len() / 2, buckets.len() - 1];
    for (place, index) in
        shown.into_iter().enumerate().filter(|(place, index)| *place == 0 || shown[place - 1] != *index)
    {
        let anchor = ["start", "middle", "end"][if index == 0 { 0 } else { place }];
        let x = LEFT + (index as f64 + 0.5) * step;
        let _ = write!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{SOFT}\">{}</text>",
            HEIGHT - 12.0,
            label(&buckets[index])
        );
    }
    close(text)
}

/// Where all is right, every point is on the diagonal.
pub(super) fn scatter(points: &[Point]) -> Option<Svg> {
    let values = || points.iter().flat_map(|point| [point.expected, point.actual]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return None;
    }
    let mut text = open("actual against expected values", WIDTH, HEIGHT);
    let (width, height) = (WIDTH - LEFT - 8.0, HEIGHT - TOP - BELOW);
    let place = |point: &Point| {
        (LEFT + (point.expected - low) / span * width, TOP + height - (point.actual - low) / span * height)
    };
    let _ = write!(
        text,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"{LINE}\"/>\
         <line x1=\"{LEFT}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{TOP}\" stroke=\"{SOFT}\" stroke-dasharray=\"4 4\"/>",
        TOP + height,
        LEFT + width
    );
    for point in points {
        let (x, y) = place(point);
        let (fill, radius) = if point.wrong { (BAD, 2.6) } else { (MARK, 2.0) };
        let _ =
            write!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" fill-opacity=\"0.7\"/>");
    }
    let number =
        |value: f64| crate::Scalar::Float(f64::from(format!("{value:.2e}").parse::<f32>().unwrap_or(0.0))).to_string();
    let ends = [(LEFT, "start", low), (LEFT + width, "end", high)];
    for (x, anchor, value) in ends {
        let _ = write!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{SOFT}\">{}</text>",
            HEIGHT - 16.0,
            number(value)
        );
    }
    for (y, value) in [(TOP + height, low), (TOP + 10.0, high)] {
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"{SOFT}\">{}</text>",
            LEFT - 6.0,
            number(value)
        );
    }
    let _ = write!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{INK}\">expected</text>",
        LEFT + width / 2.0,
        HEIGHT - 4.0
    );
    close(text)
}
