//! What `kernel test` shows of how a kernel got to run.

use std::fmt::Write as _;

use pto_kernel::run::{KernelResult, LaunchReport};
use pto_launch::LaunchPath;

use crate::style;

/// As many recorded files of a simulator are shown.
const TRACES: usize = 5;

/// Target, path, and what it really ran on: `a5 by msprof on the model (Ascend950PR_9599)`. On the CPU all that is one word.
pub(super) fn ran_on(kernel: &KernelResult) -> String {
    let (target, soc) = (kernel.target, kernel.soc.unwrap_or("-"));
    let Some(chosen) = kernel.launch.as_ref().filter(|chosen| chosen.path != LaunchPath::Cpu) else {
        return format!("{target} ({soc})");
    };
    let first = reports(kernel).next();
    let on = first.map_or(String::new(), on);
    match chosen.path {
        LaunchPath::Direct => format!("{target} direct{on} ({soc})"),
        path => format!("{target} by {path}{on} ({soc})"),
    }
}

/// ` on silicon, device 3`.
fn on(report: &LaunchReport) -> String {
    let mode = report.mode.map(|mode| format!(" on {mode}")).unwrap_or_default();
    let device = report.device.map(|device| format!(", device {device}")).unwrap_or_default();
    format!("{mode}{device}")
}

fn reports(kernel: &KernelResult) -> impl Iterator<Item = &LaunchReport> {
    kernel.cases.iter().filter_map(|case| case.launch.as_ref())
}

/// What is to be said of the launches: what was left out, what is odd, what a simulator left.
pub(super) fn explain(kernel: &KernelResult, text: &mut String) {
    if let Some(note) = kernel.launch.as_ref().and_then(|chosen| chosen.note.as_ref()) {
        let _ = writeln!(text, "{} {}: {note}\n", style::warning("note:"), kernel.name);
    }
    let mut said: Vec<&String> = Vec::new();
    for warning in reports(kernel).flat_map(|report| &report.warnings) {
        if !said.contains(&warning) {
            said.push(warning);
            let _ = writeln!(text, "{} {}: {warning}\n", style::warning("warning:"), kernel.name);
        }
    }
    for simulation in reports(kernel).filter_map(|report| report.simulation.as_ref()) {
        if simulation.traces.is_empty() {
            continue;
        }
        let shown: Vec<String> =
            simulation.traces.iter().take(TRACES).map(|trace| trace.display().to_string()).collect();
        let more = match simulation.traces.len().saturating_sub(TRACES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let dir = simulation.output.display();
        let _ = writeln!(text, "traces of {} in {dir}: {}{more}\n", kernel.name, shown.join(", "));
    }
}

/// The options that choose the same path again.
pub(super) fn options(kernel: &KernelResult) -> String {
    match kernel.launch.as_ref().map(|chosen| chosen.path) {
        None | Some(LaunchPath::Cpu) => String::new(),
        Some(path) => format!(" --target {} --launch {path}", kernel.target),
    }
}
