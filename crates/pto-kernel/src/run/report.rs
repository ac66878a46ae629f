//! What a run found, as it is shown and saved.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::kernel_result::{KernelResult, KernelStatus};

/// All kernels of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// `ptokit.kernel-test/1`.
    pub schema: &'static str,
    /// Whether every case of every kernel passed; kernels that are skipped do not count.
    pub passed: bool,
    /// Whether the user asked for the end before everything was done.
    pub interrupted: bool,
    /// The kernels in the order they were asked for.
    pub kernels: Vec<KernelResult>,
    /// How many there were, and how many passed.
    pub totals: Totals,
}

/// How many kernels and cases there were, and how many cases passed. Skipped kernels do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Kernels that were asked for.
    pub kernels: usize,
    /// Cases run.
    pub cases: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that did not.
    pub failed: usize,
}

impl Report {
    /// The schema of the JSON document.
    pub const SCHEMA: &'static str = "ptokit.kernel-test/1";

    /// All results together.
    pub fn new(kernels: Vec<KernelResult>) -> Self {
        let counted = || kernels.iter().filter(|kernel| kernel.status != KernelStatus::Skipped);
        let cases = || kernels.iter().flat_map(|kernel| &kernel.cases);
        let passed = cases().filter(|case| case.passed()).count();
        let totals =
            Totals { kernels: counted().count(), cases: cases().count(), passed, failed: cases().count() - passed };
        let all = counted().next().is_some() && counted().all(|kernel| kernel.passed);
        let interrupted = kernels.iter().any(|kernel| kernel.status == KernelStatus::Interrupted);
        Self { schema: Self::SCHEMA, passed: all, interrupted, kernels, totals }
    }

    /// Whether nothing was found out: what was asked for is wrong for every kernel.
    pub fn is_usage(&self) -> bool {
        let said = |kernel: &KernelResult| kernel.usage || kernel.status == KernelStatus::Skipped;
        !self.kernels.is_empty() && self.kernels.iter().all(said)
    }

    /// Writes it as JSON, whole or not at all: somebody may be reading the last one. Directories are made.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new(""));
        fs_err::create_dir_all(dir)?;
        let json = serde_json::to_vec_pretty(self)?;
        let partial = dir.join(format!(".report.{}.json", std::process::id()));
        fs_err::write(&partial, json).and_then(|()| fs_err::rename(&partial, path)).inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
    }
}
