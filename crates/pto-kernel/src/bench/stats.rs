//! What a set of times says.

use serde::{Deserialize, Serialize};

/// Times of one case, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The middle one; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The median of the absolute deviations from the median: one slow launch does not move it.
    pub mad: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// The standard deviation of the sample; 0 of a single one.
    pub stdev: f64,
}

impl Stats {
    /// `None` where there is nothing.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = middle(&sorted);
        let mut deviations: Vec<f64> = sorted.iter().map(|sample| (sample - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|sample| (sample - mean).powi(2)).sum();
        let stdev = if sorted.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Some(Self { median, mad: middle(&deviations), min, max, mean, stdev })
    }

    /// Whether these can be figures of times: a median above 0 and a deviation that is not negative, both below what anybody
    /// waits for.
    pub fn is_sound(&self) -> bool {
        const YEARS: f64 = 1e9;
        self.median > 0.0 && self.median < YEARS && (0.0..YEARS).contains(&self.mad)
    }

    /// The MAD as a share of the median.
    pub fn spread(&self) -> f64 {
        if self.median > 0.0 { self.mad / self.median } else { 0.0 }
    }
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// A time as people read it: three digits and a unit.
pub fn human(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_slow_launch_moves_the_mean_and_not_the_median() {
        let stats = Stats::of(&[1.0, 1.1, 0.9, 1.0, 100.0]).unwrap();
        assert_eq!((stats.median, stats.min, stats.max), (1.0, 0.9, 100.0));
        assert!((stats.mad - 0.1).abs() < 1e-12 && stats.mean > 20.0, "{stats:?}");
        assert_eq!(Stats::of(&[]), None);
        let one = Stats::of(&[2.0]).unwrap();
        assert_eq!((one.median, one.mad, one.stdev), (2.0, 0.0, 0.0));
        assert_eq!(Stats::of(&[1.0, 2.0]).unwrap().median, 1.5);
    }

    #[test]
    fn times_read_well() {
        for (seconds, text) in [(2.5, "2.50 s"), (0.0123, "12.3 ms"), (0.000_456, "456 us"), (1.2e-6, "1.20 us")] {
            assert_eq!(human(seconds), text);
        }
    }

    proptest! {
        #[test]
        fn figures_are_in_order(samples in prop::collection::vec(1e-6..1e3_f64, 1..50)) {
            let stats = Stats::of(&samples).unwrap();
            prop_assert!(stats.min <= stats.median && stats.median <= stats.max);
            prop_assert!(stats.min <= stats.mean * (1.0 + 1e-12) && stats.mean <= stats.max * (1.0 + 1e-12));
            prop_assert!(stats.mad <= stats.max - stats.min);
        }
    }
}
