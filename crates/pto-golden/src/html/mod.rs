//! A report as one HTML file: verdicts, figures, pictures, environment, commands. It needs no network and no other file, is
//! readable in light and dark, on paper, and on a telephone.

mod plot;

use std::fmt::Write as _;

use crate::Report;

/// Everything the page shows.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// What was done.
    pub title: String,
    /// The command that does it again.
    pub command: String,
    /// What it was done with, by name.
    pub environment: Vec<(String, String)>,
    /// The comparisons.
    pub cases: Vec<Case<'a>>,
}

/// One comparison.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// What was compared.
    pub name: String,
    /// Whether it is right. A case may be wrong although what was compared is right.
    pub passed: bool,
    /// The verdict in one line.
    pub message: String,
    /// The command that repeats this one, if there is one.
    pub command: Option<String>,
    /// What the comparison found, if it came so far.
    pub report: Option<&'a Report>,
}

/// Where a wrong tensor is wrong, as a picture of its own; `None` where it is right, or too large to be looked at.
pub fn heat_map(report: &Report) -> Option<String> {
    plot::standalone(&plot::heat_map(&report.map)?)
}

/// How its errors are distributed, as a picture of its own; `None` where nothing was compared.
pub fn error_histogram(report: &Report) -> Option<String> {
    plot::standalone(&plot::histogram(&report.histogram)?)
}

/// Actual against expected values, as a picture of its own; `None` where it is right, or has no finite element.
pub fn scatter(report: &Report) -> Option<String> {
    plot::standalone(&plot::scatter(&report.points)?)
}

impl Page<'_> {
    /// The whole file.
    pub fn render(&self) -> String {
        let failed = self.cases.iter().filter(|case| !case.passed).count();
        let verdict = match (failed, self.cases.len()) {
            (0, 0) => "<p class=\"verdict bad\">Nothing was compared.</p>".to_owned(),
            (0, all) => format!("<p class=\"verdict good\">All {all} are right.</p>"),
            (failed, all) => format!("<p class=\"verdict bad\">{failed} of {all} are wrong.</p>"),
        };
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{verdict}\n",
            title = escaped(&self.title),
            style = include_str!("style.css"),
        );
        self.table(&mut page);
        self.cases.iter().enumerate().for_each(|(index, case)| case.section(index, &mut page));
        self.surroundings(&mut page);
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }

    fn table(&self, page: &mut String) {
        page.push_str("<div class=\"wide\"><table>\n<thead><tr><th>case</th><th>verdict</th><th>dtype</th><th>elements</th><th>wrong</th><th>worst error</th><th>relative RMSE</th><th>rule</th></tr></thead>\n<tbody>\n");
        for (index, case) in self.cases.iter().enumerate() {
            let _ = writeln!(
                page,
                "<tr><td><a href=\"#case-{index}\">{}</a></td><td>{}</td>{}</tr>",
                escaped(&case.name),
                case.mark(),
                case.figures()
            );
        }
        page.push_str("</tbody></table></div>\n");
    }

    fn surroundings(&self, page: &mut String) {
        let _ =
            writeln!(page, "<section><h2>How to do it again</h2>\n<pre><code>{}</code></pre>", escaped(&self.command));
        page.push_str("<dl>\n");
        for (name, value) in &self.environment {
            let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
        }
        page.push_str("</dl></section>\n");
    }
}

impl Case<'_> {
    fn mark(&self) -> &'static str {
        if self.passed { "<span class=\"good\">✓ right</span>" } else { "<span class=\"bad\">✗ wrong</span>" }
    }

    fn figures(&self) -> String {
        let Some(report) = self.report else { return "<td></td>".repeat(6) };
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.3e}"));
        let worst = report.worst_abs.as_ref().and_then(|worst| worst.error);
        format!(
            "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
            report.dtype,
            report.elements,
            report.mismatches,
            number(worst),
            number(report.relative_rmse),
            escaped(&report.rule)
        )
    }

    fn section(&self, index: usize, page: &mut String) {
        let _ = writeln!(
            page,
            "<section id=\"case-{index}\"><h2>{} {}</h2>\n<p>{}</p>",
            escaped(&self.name),
            self.mark(),
            escaped(&self.message)
        );
        if let Some(report) = self.report {
            details(report, page);
        }
        if let Some(command) = &self.command {
            let _ = writeln!(page, "<pre><code>{}</code></pre>", escaped(command));
        }
        page.push_str("</section>\n");
    }
}

fn details(report: &Report, page: &mut String) {
    for pattern in &report.patterns {
        let _ = writeln!(
            page,
            "<p class=\"pattern\"><strong>{}</strong>: {}.<br>Usually {}.</p>",
            escaped(pattern.title),
            escaped(&pattern.evidence),
            escaped(pattern.cause)
        );
    }
    if let Some(reason) = &report.reason {
        let _ = writeln!(page, "<p><strong>Looser than the default, because</strong> {}</p>", escaped(reason));
    }
    for warning in &report.warnings {
        let _ = writeln!(page, "<p class=\"bad\">Warning: {}</p>", escaped(warning));
    }
    let plots = [
        ("where it is wrong", plot::heat_map(&report.map)),
        ("absolute errors", plot::histogram(&report.histogram)),
        ("actual against expected", plot::scatter(&report.points)),
    ];
    page.push_str("<div class=\"plots\">\n");
    for (caption, svg) in plots {
        let Some(svg) = svg else { continue };
        let _ = writeln!(page, "<figure>{}<figcaption>{caption}</figcaption></figure>", svg.text);
    }
    page.push_str("</div>\n");
    statistics(report, page);
    mismatches(report, page);
}

fn statistics(report: &Report, page: &mut String) {
    let number = |value: Option<f64>| value.map_or("undefined".to_owned(), |value| format!("{value:.6e}"));
    let mut rows = vec![
        ("shape", format!("{:?}", report.shape)),
        ("rule", report.rule.clone()),
        ("RMSE", number(report.rmse)),
        ("RMSE relative to magnitude", number(report.relative_rmse)),
        ("R2", number(report.r2)),
        ("cosine", number(report.cosine)),
        ("signal to noise", report.snr.map_or("no noise".to_owned(), |snr| format!("{snr:.2} dB"))),
        ("mean error", number(report.bias)),
        ("NaN", format!("{}, expected {}", report.actual_non_finite.nan, report.expected_non_finite.nan)),
        ("infinite", format!("{}, expected {}", report.actual_non_finite.inf, report.expected_non_finite.inf)),
    ];
    if let Some(quantiles) = report.quantiles {
        let text =
            format!("{:.2e}, {:.2e}, {:.2e}, {:.2e}", quantiles.p50, quantiles.p90, quantiles.p99, quantiles.p999);
        rows.push(("errors of 50, 90, 99, 99.9 % at most", text));
    }
    page.push_str("<details><summary>figures</summary><div class=\"wide\"><table>\n");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value));
    }
    page.push_str("</table></div></details>\n");
}

fn mismatches(report: &Report, page: &mut String) {
    if report.first.is_empty() {
        return;
    }
    page.push_str("<details><summary>first mismatches</summary><div class=\"wide\"><table>\n<tr><th>at</th><th>actual</th><th>expected</th><th>off by</th></tr>\n");
    for difference in &report.first {
        let off = difference.error.map_or(String::new(), |error| crate::Scalar::Float(error).to_string());
        let _ = writeln!(
            page,
            "<tr><td>{:?}</td><td>{}</td><td>{}</td><td>{off}</td></tr>",
            difference.index, difference.actual, difference.expected
        );
    }
    page.push_str("</table></div></details>\n");
}

/// Text that means nothing to a browser.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
