//! Memory inside one core.

use serde::{Deserialize, Serialize};

/// Memory inside one core, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnChip {
    /// Unified Buffer of a vector core.
    pub ub: usize,
    /// L1 of a cube core.
    pub l1: usize,
    /// Left operand buffer of a cube core.
    pub l0a: usize,
    /// Right operand buffer of a cube core.
    pub l0b: usize,
    /// Accumulator of a cube core.
    pub l0c: usize,
}

impl OnChip {
    /// `l1_size` in the platform files of A2, A3 and A5.
    pub(crate) const L1: usize = 512 * 1024;
    /// `l0_a_size` and `l0_b_size` in the same files.
    pub(crate) const L0AB: usize = 64 * 1024;
}
