//! A saved run, and what became slower or faster since.
//!
//! A median counts as changed only if it changed by more than the noise of both runs and by more than a share that matters:
//! `|new - old| > max(3 * 1.4826 * max(MAD_old, MAD_new), threshold * old)`. The factor 1.4826 makes a MAD comparable with
//! a standard deviation where times are normally distributed.

use std::path::{Path, PathBuf};

use pto_launch::Timing;
use pto_platform::Target;
use serde::{Deserialize, Serialize};

use super::report::{BenchReport, Measures};
use super::stats::Stats;

/// A MAD by this is a standard deviation, for normally distributed times.
const MAD_TO_SIGMA: f64 = 1.4826;

/// From where on a difference counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// How many standard deviations of the noisier run.
    pub sigmas: f64,
    /// What share of the old median.
    pub share: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { sigmas: 3.0, share: 0.05 }
    }
}

/// How a case compares with its saved run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The verdict.
    pub trend: Trend,
    /// Why they cannot be compared, where they cannot.
    pub reason: Option<String>,
    /// The old median, in seconds.
    pub old_median: Option<f64>,
    /// The new median by the old one, less 1: 0.1 is ten percent slower.
    pub change: Option<f64>,
    /// How far the medians may be apart by noise and threshold, in seconds.
    pub allowed: Option<f64>,
}

/// A verdict on two medians.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// Slower by more than noise and threshold.
    Slower,
    /// Faster by more than both.
    Faster,
    /// Neither.
    Same,
    /// The saved run has no such case.
    New,
    /// The two were not measured in the same way.
    Incomparable,
}

impl Trend {
    /// The word for people and in CSV.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::New => "new",
            Self::Incomparable => "incomparable",
        }
    }
}

/// A saved run: what a comparison needs of it.
#[derive(Debug, Clone, Deserialize)]
pub struct Baseline {
    schema: String,
    measures: Measures,
    kernels: Vec<SavedKernel>,
}

#[derive(Debug, Clone, Deserialize)]
struct SavedKernel {
    name: String,
    target: Target,
    soc: Option<String>,
    timing: Option<Timing>,
    cases: Vec<SavedCase>,
}

#[derive(Debug, Clone, Deserialize)]
struct SavedCase {
    case: String,
    seconds: Option<Stats>,
}

/// Why a file is no saved run.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is no saved bench: {why}", path.display())]
pub struct BaselineError {
    /// The file.
    path: PathBuf,
    /// Why.
    why: String,
}

impl Baseline {
    /// Reads what was saved.
    ///
    /// # Errors
    /// The file cannot be read, or is something else.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let refuse = |why: String| BaselineError { path: path.to_path_buf(), why };
        let text = crate::read::text(path).map_err(|error| refuse(error.to_string()))?;
        let baseline: Self = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        if baseline.schema != BenchReport::SCHEMA {
            return Err(refuse(format!("its schema is `{}`, expected `{}`", baseline.schema, BenchReport::SCHEMA)));
        }
        let cases = baseline.kernels.iter().flat_map(|kernel| &kernel.cases);
        match cases.clone().find(|case| case.seconds.is_some_and(|seconds| !seconds.is_sound())) {
            Some(case) => Err(refuse(format!("the times of case {} are none that can be measured", case.case))),
            None => Ok(baseline),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what names a case, and how it was measured")]
    pub(super) fn compare(
        &self,
        name: &str,
        target: Target,
        soc: Option<&str>,
        timing: Option<Timing>,
        measures: Measures,
        case: &str,
        new: &Stats,
        thresholds: Thresholds,
    ) -> Comparison {
        let none = |trend, reason| Comparison { trend, reason, old_median: None, change: None, allowed: None };
        let same =
            |kernel: &&SavedKernel| kernel.name == name && kernel.target == target && kernel.soc.as_deref() == soc;
        let Some(kernel) = self.kernels.iter().find(same) else { return none(Trend::New, None) };
        let saved = kernel.cases.iter().find(|saved| saved.case == case).and_then(|saved| saved.seconds);
        let Some(old) = saved else { return none(Trend::New, None) };
        if self.measures != measures {
            let reason = format!("the saved times are of `{}`", self.measures.word());
            return none(Trend::Incomparable, Some(reason));
        }
        let flushed = |timing: Option<Timing>| timing.map_or(0, |timing| timing.flush_bytes);
        if flushed(kernel.timing) != flushed(timing) {
            let reason = format!("the saved run flushed {} bytes before each launch", flushed(kernel.timing));
            return none(Trend::Incomparable, Some(reason));
        }
        verdict(&old, new, thresholds)
    }
}

fn verdict(old: &Stats, new: &Stats, thresholds: Thresholds) -> Comparison {
    let noise = thresholds.sigmas * MAD_TO_SIGMA * old.mad.max(new.mad);
    let allowed = noise.max(thresholds.share * old.median);
    let difference = new.median - old.median;
    let trend = match difference {
        d if d > allowed => Trend::Slower,
        d if d < -allowed => Trend::Faster,
        _ => Trend::Same,
    };
    let change = (old.median > 0.0).then(|| new.median / old.median - 1.0);
    Comparison { trend, reason: None, old_median: Some(old.median), change, allowed: Some(allowed) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stats(median: f64, mad: f64) -> Stats {
        Stats { median, mad, min: median, max: median, mean: median, stdev: 0.0 }
    }

    #[test]
    fn a_change_has_to_beat_both_noise_and_threshold() {
        let trend = |old: Stats, new: Stats| verdict(&old, &new, Thresholds::default()).trend;
        assert_eq!(trend(stats(1.0, 0.0), stats(1.04, 0.0)), Trend::Same, "below the threshold");
        assert_eq!(trend(stats(1.0, 0.0), stats(1.06, 0.0)), Trend::Slower);
        assert_eq!(trend(stats(1.0, 0.02), stats(1.06, 0.0)), Trend::Same, "within the old noise");
        assert_eq!(trend(stats(1.0, 0.0), stats(1.06, 0.02)), Trend::Same, "within the new noise");
        assert_eq!(trend(stats(1.0, 0.02), stats(1.1, 0.02)), Trend::Slower);
        assert_eq!(trend(stats(1.0, 0.0), stats(0.9, 0.0)), Trend::Faster);
    }

    proptest! {
        #[test]
        fn what_is_slower_one_way_is_faster_the_other_way(a in 0.1..10.0_f64, b in 0.1..10.0_f64, mad in 0.0..0.1_f64) {
            let only_noise = Thresholds { sigmas: 3.0, share: 0.0 };
            let there = verdict(&stats(a, mad), &stats(b, mad), only_noise).trend;
            let back = verdict(&stats(b, mad), &stats(a, mad), only_noise).trend;
            let opposite = match there { Trend::Slower => Trend::Faster, Trend::Faster => Trend::Slower, same => same };
            prop_assert_eq!(back, opposite);
        }
    }
}
