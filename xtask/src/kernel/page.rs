//! The HTML page of `kernel test`: every case, with pictures of what is wrong.

use std::path::Path;

use pto_golden::html;
use pto_kernel::run::{KernelStatus, Report};

use super::render::repeat;
use crate::exit::Failure;

/// Writes every output of every case, and what did not come so far.
///
/// # Errors
/// The page cannot be written.
pub fn write(path: &Path, report: &Report) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for kernel in &report.kernels {
        if let Some(problem) = &kernel.error {
            let skipped = kernel.status == KernelStatus::Skipped;
            let (name, message) = (kernel.name.clone(), problem.message.clone());
            entries.push(html::Case { name, passed: skipped, message, command: None, report: None });
        }
        for case in &kernel.cases {
            let command = Some(repeat(kernel, case));
            let entry =
                |name, passed, message, report| html::Case { name, passed, message, command: command.clone(), report };
            let name = format!("{} {} ({})", kernel.name, case.case, case.target);
            // A case may be wrong though its outputs are right: an input was overwritten, or nothing was launched.
            if case.outputs.is_empty() || (!case.passed() && case.outputs.values().all(|output| output.passed())) {
                entries.push(entry(name.clone(), case.passed(), case.message.clone(), None));
            }
            entries.extend(case.outputs.iter().map(|(output, report)| {
                entry(format!("{name}, {output}"), report.passed(), report.message.clone(), Some(report))
            }));
        }
    }
    crate::golden::page::write(path, "kernel test".to_owned(), entries)
}
