//! A bench as a picture: time and bandwidth over the dim that varies.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::report::{BenchReport, BenchedCase, BenchedKernel};

const SIZE: (u32, u32) = (960, 420);
const COLOURS: [RGBColor; 6] = [
    RGBColor(47, 111, 181),
    RGBColor(179, 38, 30),
    RGBColor(46, 125, 50),
    RGBColor(123, 31, 162),
    RGBColor(239, 108, 0),
    RGBColor(0, 121, 107),
];

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// No case was timed.
    #[error("there is nothing to plot: no case was timed")]
    Nothing,
    /// The picture cannot be drawn.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
}

/// A case as a point: its place on the horizontal axis, and what was measured.
struct Point<'a> {
    x: f64,
    case: &'a BenchedCase,
    median: f64,
    mad: f64,
}

/// Draws an SVG: on the left the medians with their MADs, on the right bytes by time, each over the dim that varies most,
/// on logarithmic axes. Cases of a kernel without dynamic dims lie at 1.
///
/// # Errors
/// No case was timed.
pub fn plot(report: &BenchReport) -> Result<String, PlotError> {
    let dim = varying(&report.kernels);
    let series: Vec<(&str, Vec<Point<'_>>)> =
        report.kernels.iter().map(|kernel| (kernel.name.as_str(), points(kernel, dim))).collect();
    let series: Vec<_> = series.into_iter().filter(|(_, points)| !points.is_empty()).collect();
    if series.is_empty() {
        return Err(PlotError::Nothing);
    }
    let mut svg = String::new();
    draw(&mut svg, report, dim.unwrap_or("case"), &series).map_err(|error| PlotError::Drawing(error.to_string()))?;
    Ok(svg)
}

/// The dim with the most different lengths over all cases.
fn varying(kernels: &[BenchedKernel]) -> Option<&str> {
    let cases = || kernels.iter().flat_map(|kernel| &kernel.cases);
    let mut names: Vec<&String> = cases().flat_map(|case| case.dims.keys()).collect();
    names.sort();
    names.dedup();
    let lengths = |name: &&&String| {
        let mut lengths: Vec<i64> = cases().filter_map(|case| case.dims.get(name.as_str()).copied()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths.len()
    };
    names.iter().rev().max_by_key(lengths).map(|name| name.as_str())
}

fn points<'a>(kernel: &'a BenchedKernel, dim: Option<&str>) -> Vec<Point<'a>> {
    let point = |case: &'a BenchedCase| {
        let stats = case.times.seconds.as_ref().filter(|stats| stats.median > 0.0)?;
        let x = dim.and_then(|dim| case.dims.get(dim)).map_or(1.0, |length| *length as f64);
        Some(Point { x, case, median: stats.median, mad: stats.mad })
    };
    let mut points: Vec<Point<'a>> = kernel.cases.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(svg: &'a mut String, report: &BenchReport, dim: &str, series: &[(&str, Vec<Point<'_>>)]) -> Drawn<'a> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled(report.note, ("sans-serif", 16))?;
    let halves = root.split_evenly((1, 2));
    let times = |point: &Point<'_>| Some((point.median * 1e6, point.mad * 1e6));
    panel(&halves[0], &format!("median and MAD in us over {dim}"), series, times, None)?;
    let rates = |point: &Point<'_>| Some((point.case.times.gbps?, 0.0));
    let peak = series.iter().flat_map(|(_, points)| points).find_map(|point| point.case.roofline?.peaks.gbps);
    panel(&halves[1], &format!("GB/s over {dim}"), series, rates, peak)?;
    root.present()
}

fn panel<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    title: &str,
    series: &[(&str, Vec<Point<'_>>)],
    value: impl Fn(&Point<'_>) -> Option<(f64, f64)>,
    peak: Option<f64>,
) -> Drawn<'a> {
    let all = || series.iter().flat_map(|(_, points)| points);
    let xs = around(all().map(|point| point.x));
    let ys =
        around(all().filter_map(&value).flat_map(|(y, spread)| [(y - spread).max(y / 10.0), y + spread]).chain(peak));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 14))
        .margin(10)
        .x_label_area_size(32)
        .y_label_area_size(64)
        .build_cartesian_2d((xs.0..xs.1).log_scale(), (ys.0..ys.1).log_scale())?;
    chart.configure_mesh().x_label_formatter(&short).y_label_formatter(&short).draw()?;
    for ((name, points), colour) in series.iter().zip(COLOURS.into_iter().cycle()) {
        let values: Vec<(f64, f64, f64)> =
            points.iter().filter_map(|point| value(point).map(|(y, spread)| (point.x, y, spread))).collect();
        let line = LineSeries::new(values.iter().map(|(x, y, _)| (*x, *y)), colour.stroke_width(2)).point_size(3);
        chart
            .draw_series(line)?
            .label(*name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 10, y + 4)], colour.filled()));
        let bars = values.iter().filter(|(_, _, spread)| *spread > 0.0);
        chart.draw_series(bars.map(|(x, y, spread)| {
            ErrorBar::new_vertical(*x, (y - spread).max(ys.0), *y, y + spread, colour.filled(), 8)
        }))?;
    }
    if let Some(peak) = peak {
        let roof = LineSeries::new([(xs.0, peak), (xs.1, peak)], BLACK.stroke_width(1));
        chart.draw_series(roof)?.label("roofline").legend(|(x, y)| PathElement::new([(x, y), (x + 10, y)], BLACK));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()
}

/// A range with room on both sides; a single value gets some as well.
fn around(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low.is_finite() && high > 0.0 { (low / 1.5, high * 1.5) } else { (0.5, 2.0) }
}

fn short(value: &f64) -> String {
    match *value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e4 => format!("{}k", v / 1e3),
        v => format!("{v}"),
    }
}
