//! What a machine could do at most, and how far a time is from it.

use pto_golden::DType;
use pto_platform::{Core, Soc, Target};
use serde::Serialize;

use crate::manifest::{Dir, Manifest};

/// Times within this much of the roofline may be so by the clock alone.
const CLOCK: f64 = 0.02;

/// What a machine can do at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Peaks {
    /// Bytes to and from device memory, in GB/s (1e9 bytes). Platform files do not say it.
    pub gbps: Option<f64>,
    /// Floating-point operations, in GFLOP/s (1e9 of them).
    pub gflops: Option<f64>,
}

impl Peaks {
    /// What is not given is taken from the SoC table: the cube's f16 and bf16, by frequency and number of cores. Nothing
    /// is, on the CPU: the SoC that it plays says nothing about its own speed.
    pub(super) fn or_of(self, manifest: &Manifest, soc: &Soc, target: Target) -> Self {
        let halves = manifest
            .tensors()
            .filter(|(_, tensor)| tensor.dir != Dir::Out && tensor.dir != Dir::Workspace)
            .all(|(_, tensor)| matches!(tensor.dtype, DType::F16 | DType::Bf16));
        let known = target != Target::Cpu && manifest.core == Core::Cube && halves;
        let cube = soc.cube_flops().filter(|_| known).map(|flops| flops / 1e9);
        Self { gbps: self.gbps, gflops: self.gflops.or(cube) }
    }
}

/// How far a time is from the least that is possible.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Roofline {
    /// What the machine can do.
    #[serde(flatten)]
    pub peaks: Peaks,
    /// The least time possible, in seconds: that of the slower of memory and arithmetic.
    pub least: f64,
    /// The least time as a share of the median: 1 is the roofline itself.
    pub share: f64,
    /// Whether the median is below what is possible.
    pub above: bool,
}

impl Roofline {
    /// `None` where no peak is known for what is moved or computed.
    pub(super) fn of(peaks: &Peaks, bytes: i64, flops: Option<i64>, median: f64) -> Option<Self> {
        let memory = peaks.gbps.map(|peak| bytes as f64 / (peak * 1e9));
        let arithmetic = peaks.gflops.zip(flops).map(|(peak, flops)| flops as f64 / (peak * 1e9));
        let least = memory.into_iter().chain(arithmetic).reduce(f64::max)?;
        let share = if median > 0.0 { least / median } else { f64::INFINITY };
        Some(Self { peaks: *peaks, least, share, above: share > 1.0 + CLOCK })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_of_memory_and_arithmetic_counts() {
        let peaks = Peaks { gbps: Some(1.0), gflops: Some(10.0) };
        let of = |bytes, flops, median| Roofline::of(&peaks, bytes, flops, median).unwrap();
        assert_eq!(of(1_000_000_000, Some(1_000_000_000), 2.0).share, 0.5);
        assert_eq!(of(1_000_000_000, Some(20_000_000_000), 2.0).share, 1.0);
        assert!(!of(1_000_000_000, None, 0.99).above && of(1_000_000_000, None, 0.5).above);
        assert_eq!(Roofline::of(&Peaks::default(), 1, Some(1), 1.0), None);
        assert_eq!(Roofline::of(&Peaks { gflops: Some(1.0), gbps: None }, 1, None, 1.0), None);
    }
}
