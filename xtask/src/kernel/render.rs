//! What `kernel test` and `quickstart` show of a report.

use std::fmt::Write as _;

use pto_context::counted;
use pto_kernel::run::{CaseResult, CaseStatus, KernelResult, KernelStatus, Report};
use pto_process::shell_word;

use super::launch;
use super::table::{Cell, Table};
use crate::style;

/// More of a kernel's own words than this would hide the verdict.
const OUTPUT_LINES: usize = 8;

/// The results for people.
pub fn render(report: &Report) -> String {
    let mut table = Table::new(&["kernel", "target", "case", "from", "verdict", "worst error", "time"]);
    for kernel in &report.kernels {
        for (index, case) in kernel.cases.iter().enumerate() {
            table.row(row(kernel, case, index == 0));
        }
        if kernel.cases.is_empty() {
            let verdict = Cell::styled(kernel.status.word(), |text| match kernel.status {
                KernelStatus::Skipped => style::dim(text),
                _ => style::error(text),
            });
            let blank = || Cell::new("-");
            table.row(vec![Cell::new(&kernel.name), Cell::new(kernel.target.name()), blank(), blank(), verdict]);
        }
    }
    let mut text = String::new();
    if report.totals.cases > 0 || report.kernels.len() > 1 {
        text += &(table.lines().join("\n") + "\n\n");
    }
    report.kernels.iter().for_each(|kernel| explain(kernel, &mut text));
    let totals = report.totals;
    let verdict = if report.passed { style::good("passed") } else { style::error("failed") };
    let _ = write!(
        text,
        "{verdict}: {} of {} cases passed in {}",
        totals.passed,
        totals.cases,
        counted(totals.kernels, "kernel")
    );
    for status in [KernelStatus::NotBuilt, KernelStatus::Malformed, KernelStatus::Blocked, KernelStatus::Skipped] {
        match report.kernels.iter().filter(|kernel| kernel.status == status && kernel.cases.is_empty()).count() {
            0 => {}
            count => {
                let _ = write!(text, ", {count} {}", status.word());
            }
        }
    }
    text + "\n"
}

fn row(kernel: &KernelResult, case: &CaseResult, first: bool) -> Vec<Cell> {
    let verdict = case.status.word();
    vec![
        Cell::new(if first { kernel.name.clone() } else { String::new() }),
        Cell::new(if first { launch::ran_on(kernel) } else { String::new() }),
        Cell::new(&case.case),
        Cell::new(&case.origin),
        match case.status {
            CaseStatus::Passed => Cell::styled(verdict, |text| style::good(text)),
            _ => Cell::styled(verdict, |text| style::error(text)),
        },
        Cell::new(worst(case)),
        Cell::new(format!("{:.2} s", case.seconds)),
    ]
}

/// The largest absolute error over all outputs.
fn worst(case: &CaseResult) -> String {
    let errors = case.outputs.values().filter_map(|report| report.worst_abs.as_ref()?.error);
    errors.fold(None, |worst: Option<f64>, error| Some(worst.map_or(error, |worst| worst.max(error)))).map_or(
        "-".to_owned(),
        |worst| {
            if worst == 0.0 { "0".to_owned() } else { format!("{worst:.1e}") }
        },
    )
}

/// What went wrong, and what is doubtful, kernel by kernel.
fn explain(kernel: &KernelResult, text: &mut String) {
    if let Some(problem) = kernel.error.as_ref().filter(|_| kernel.status != KernelStatus::Skipped) {
        // A message that begins with a path says itself which kernel it is about.
        let placed = problem.message.starts_with(&*kernel.path.parent().unwrap_or(&kernel.path).to_string_lossy());
        let name = if placed { String::new() } else { format!("{}: ", kernel.name) };
        let _ = writeln!(text, "{} {name}{}", style::error("error:"), problem.message);
        hint(problem.hint.as_deref(), "", text);
        text.push('\n');
    }
    for told in &kernel.hints {
        let _ = writeln!(text, "{} {}: {told}\n", style::hint("hint:"), kernel.name);
    }
    for case in kernel.cases.iter().filter(|case| !case.passed()) {
        explain_case(kernel, case, text);
    }
    launch::explain(kernel, text);
    for (note, count) in notes(kernel) {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let _ = writeln!(text, "{} {}: {note} ({times})\n", style::warning("note:"), kernel.name);
    }
    if let Some(warnings) = kernel.build.as_ref().map(|build| build.warnings.trim()).filter(|text| !text.is_empty()) {
        let _ = writeln!(text, "{} {}: the compiler says\n{warnings}\n", style::warning("note:"), kernel.name);
    }
}

fn explain_case(kernel: &KernelResult, case: &CaseResult, text: &mut String) {
    let word = style::error(case.status.word());
    let _ = write!(text, "{word} {} {}", kernel.name, case.case);
    // Wrong outputs speak for themselves, below.
    if case.status == CaseStatus::Nondeterministic || case.outputs.values().all(|report| report.passed()) {
        let _ = write!(text, ": {}", case.message.replace('\n', "\n  "));
    }
    text.push('\n');
    for (name, report) in case.outputs.iter().filter(|(_, report)| !report.passed()) {
        let _ = writeln!(text, "  {}", format!("`{name}`: {report}").replace('\n', "\n  "));
    }
    if let Some(change) = case.overwritten.as_ref().filter(|change| case.message != **change) {
        let _ = writeln!(text, "  {change}");
    }
    if let Some(output) = case.captured_output.as_ref().filter(|output| !case.message.contains(output.trim())) {
        let _ = writeln!(text, "  it wrote:\n{}", last_lines(output));
    }
    hint(case.hint.as_deref(), "  ", text);
    let _ = writeln!(text, "  repeat: {}\n", repeat(kernel, case));
}

/// The command that runs one case again.
pub(super) fn repeat(kernel: &KernelResult, case: &CaseResult) -> String {
    let repeats = match case.status {
        // Once would show nothing.
        CaseStatus::Nondeterministic => format!(" --repeats {}", case.repeats.asked),
        _ => String::new(),
    };
    let (name, case_name, path) = (named(kernel), case_argument(case), launch::options(kernel));
    format!("cargo xtask kernel test {name}{path} --case {case_name} --seed {}{repeats}", case.seed)
}

/// The end of what a kernel wrote: the report file has more.
fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
    let cut = if shown.len() < lines.len() { "    ...\n" } else { "" };
    format!("{cut}    {}", shown.join("\n    "))
}

fn hint(hint: Option<&str>, indent: &str, text: &mut String) {
    if let Some(hint) = hint {
        let _ = writeln!(text, "{indent}{} {hint}", style::hint("hint:"));
    }
}

/// The kernel as it can be given on a command line again: its directory, which works wherever its name does.
fn named(kernel: &KernelResult) -> String {
    let dir = kernel.path.parent().map(|dir| dir.to_string_lossy().into_owned()).filter(|dir| !dir.is_empty());
    shell_word(&dir.unwrap_or_else(|| kernel.path.to_string_lossy().into_owned()))
}

fn case_argument(case: &CaseResult) -> &str {
    if case.dims.is_empty() { "1" } else { &case.case }
}

/// The notes of all cases together, each once.
fn notes(kernel: &KernelResult) -> Vec<(String, u64)> {
    let mut together: Vec<(String, u64)> = Vec::new();
    for note in kernel.cases.iter().flat_map(|case| &case.notes) {
        let place = match (note.file.as_str(), note.line) {
            ("", _) => String::new(),
            (file, 0) => format!(" ({file})"),
            (file, line) => format!(" ({file}:{line})"),
        };
        let text = format!("{}{place}", note.text);
        match together.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += note.count,
            None => together.push((text, note.count)),
        }
    }
    together
}
