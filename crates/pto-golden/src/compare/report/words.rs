//! The same in words.

use std::fmt;

use super::{Difference, Report, Status, Unwritten};
use crate::Scalar;
use crate::compare::{Options, Rule};

impl Report {
    /// The verdict in one line.
    pub(super) fn verdict(&self, rule: &Rule, options: &Options) -> String {
        let Self { elements, mismatches, rule: words, .. } = self;
        let share = 100.0 * *mismatches as f64 / *elements as f64;
        match (self.status, &self.unwritten) {
            (Status::NeverWritten, _) => format!("never written: all {elements} elements still hold the fill pattern"),
            (_, Some(Unwritten { count, first, last })) => {
                let others = match mismatches - count {
                    0 => "the others agree".to_owned(),
                    wrong => format!("{wrong} more differ"),
                };
                format!(
                    "{count} of {elements} elements never written, first at {first:?}, last at {last:?}; {others} ({words})"
                )
            }
            (status, None) => match *rule {
                Rule::Whole { .. } => format!("{} ({words})", self.figures()),
                Rule::PassRate { .. } | Rule::Floored { .. } => {
                    let hopeless = match self.hopeless {
                        0 => String::new(),
                        beyond => format!(", {beyond} of them beyond the cap"),
                    };
                    let worst = self.worst_in_words();
                    format!("{mismatches} of {elements} elements differ ({share:.3} %){hopeless} ({words}){worst}")
                }
                Rule::Determinism if status == Status::Differs => {
                    format!(
                        "not deterministic: {mismatches} of {elements} elements differ between runs{}",
                        self.worst_in_words()
                    )
                }
                _ if status == Status::Differs => {
                    let saturated = match self.saturated {
                        0 => String::new(),
                        count => format!(", {count} of them saturated where an infinity is expected"),
                    };
                    let worst = self.worst_in_words();
                    format!("{mismatches} of {elements} elements differ ({share:.3} %){saturated} ({words}){worst}")
                }
                _ => {
                    let nan =
                        if options.equal_nan && self.actual_non_finite.nan > 0 { ", NaN equal to NaN" } else { "" };
                    format!("{elements} elements agree ({words}{nan}){}", self.worst_in_words())
                }
            },
        }
    }

    fn figures(&self) -> String {
        let figure = |name: &str, value: Option<f64>| match value {
            Some(value) => format!("{name} {value:.6}"),
            None => format!("{name} undefined"),
        };
        let rmse = self.relative_rmse.map_or("undefined".to_owned(), |rmse| format!("{rmse:.3e}"));
        let (r2, cosine, snr) = (figure("R2", self.r2), figure("cosine", self.cosine), figure("SNR", self.snr));
        let classes = match self.hopeless {
            0 => String::new(),
            count => format!(", {count} elements of another class"),
        };
        format!("relative RMSE {rmse}, {r2}, {cosine}, {snr} dB{classes}")
    }

    fn worst_in_words(&self) -> String {
        match &self.worst_abs {
            Some(Difference { error: Some(error), .. }) if *error == 0.0 && self.passed() => ", all equal".to_owned(),
            Some(Difference { error: Some(error), .. }) if *error == 0.0 => ", the finite ones are equal".to_owned(),
            Some(worst) => format!(", worst {worst}"),
            None => String::new(),
        }
    }
}

impl Difference {
    fn is_nan_on_both_sides(&self) -> bool {
        let nan = |value: Scalar| matches!(value, Scalar::Float(value) if value.is_nan());
        nan(self.actual) && nan(self.expected)
    }
}

/// `at [1, 2]: 0.5, expected 0.25 (off by 0.25)`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, actual, expected, error } = self;
        write!(f, "at {index:?}: {actual}, expected {expected}")?;
        match error {
            // An error has no more digits than the elements: of two `f32` the difference is shown as one.
            Some(error) if is_single(*actual) && is_single(*expected) => {
                write!(f, " (off by {})", Scalar::Float(f64::from(*error as f32)))
            }
            Some(error) => write!(f, " (off by {})", Scalar::Float(*error)),
            None => Ok(()),
        }
    }
}

fn is_single(value: Scalar) -> bool {
    matches!(value, Scalar::Float(value) if value.is_nan() || f64::from(value as f32) == value)
}

/// The verdict, then what helps to find the cause, line by line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(worst) = self.worst_rel.as_ref().filter(|worst| worst.error > Some(0.0)) {
            let error = worst.error.unwrap_or_default();
            let (index, actual, expected) = (&worst.index, worst.actual, worst.expected);
            write!(f, "\n  worst relative error {error:.3e} at {index:?}: {actual}, expected {expected}")?;
        }
        if let Some(rmse) = self.rmse.filter(|rmse| *rmse > 0.0) {
            write!(f, "\n  RMSE {rmse:.3e}")?;
            self.relative_rmse.map_or(Ok(()), |relative| write!(f, ", relative {relative:.3e}"))?;
            self.r2.map_or(Ok(()), |r2| write!(f, ", R2 {r2:.6}"))?;
        }
        let (a, e) = (self.actual_non_finite, self.expected_non_finite);
        if a != e {
            write!(f, "\n  NaN: {}, expected {}; infinite: {}, expected {}", a.nan, e.nan, a.inf, e.inf)?;
        }
        for difference in &self.first {
            write!(f, "\n  {difference}")?;
        }
        if self.first.iter().any(Difference::is_nan_on_both_sides) {
            let nan = e.nan;
            write!(
                f,
                "\n  the golden itself is NaN in {nan} elements: there the kernel may be right and the reference undefined"
            )?;
        }
        let unwritten = self.unwritten.as_ref().map_or(0, |unwritten| unwritten.count);
        match self.mismatches.saturating_sub(unwritten + self.first.len()) {
            more if more > 0 && !self.first.is_empty() => write!(f, "\n  and {more} more")?,
            _ => {}
        }
        for pattern in &self.patterns {
            write!(f, "\n  {}: {}\n    usually {}", pattern.title, pattern.evidence, pattern.cause)?;
        }
        if let Some(reason) = &self.reason {
            write!(f, "\n  looser than the default, because: {reason}")?;
        }
        self.warnings.iter().try_for_each(|warning| write!(f, "\n  warning: {warning}"))
    }
}
