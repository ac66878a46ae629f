//! Diagnostics of compilers span lines, so a stretch of output is collected and judged as a whole.

use pto_compile::bisheng::{Diagnosis, Versions, diagnose};

use super::machine::Machine;

/// Lines that are collected from the first diagnostic on: what belongs to one, and the next few.
const STRETCH: usize = 80;
/// Stretches that are judged in one log. The first error counts; what a thousand later ones say is the same.
const MOST: usize = 8;

/// Collects stretches of compiler output in one log.
#[derive(Debug, Default)]
pub(super) struct CompilerOutput {
    lines: Vec<(u64, String)>,
    judged: usize,
}

/// What a stretch means, and where its evidence begins.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) diagnosis: Diagnosis,
    pub(super) line: u64,
}

impl CompilerOutput {
    /// Whether lines are being collected.
    pub(super) fn is_open(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Begins a stretch, unless enough were judged.
    pub(super) fn open(&mut self, number: u64, text: &str) {
        if self.judged < MOST {
            self.lines.push((number, text.to_owned()));
        }
    }

    /// Takes in the next line; true when the stretch is full.
    pub(super) fn push(&mut self, number: u64, text: &str) -> bool {
        self.lines.push((number, text.to_owned()));
        self.lines.len() >= STRETCH
    }

    /// Ends the stretch.
    pub(super) fn judge(&mut self, machine: &Machine) -> Vec<Judgement> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        self.judged += 1;
        let lines = std::mem::take(&mut self.lines);
        let output: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        let versions = Versions { cann: machine.cann_release.as_deref(), ptoas: machine.ptoas_version.as_deref() };
        let place = |diagnosis: &Diagnosis| {
            let first = diagnosis.evidence.first()?;
            lines.iter().find(|(_, text)| text == first).map(|(number, _)| *number)
        };
        let judged = diagnose(&output.join("\n"), versions).into_iter();
        judged.map(|diagnosis| Judgement { line: place(&diagnosis).unwrap_or(lines[0].0), diagnosis }).collect()
    }
}

/// Whether a line with `error: ` or a redefined macro is a compiler's: `file:line:column: error: ...`, the bare form, or
/// one that begins with the compiler's name. Loaders, package managers and Python write errors as well.
pub(super) fn is_diagnostic(text: &str) -> bool {
    if text.contains("macro redefined") {
        return true;
    }
    let Some(at) = text.find("error: ") else { return false };
    let before = text[..at].trim_start().trim_end_matches("fatal ");
    let place = before.strip_suffix(": ").unwrap_or(before);
    let compilers = ["bisheng", "ccec", "clang", "g++", "gcc", "c++"];
    before.is_empty()
        || place.ends_with(|c: char| c.is_ascii_digit()) && place.contains(':')
        || compilers.iter().any(|name| place.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compilers_write_diagnostics() {
        for line in
            ["a.cpp:3:5: error: x", "error: no member", "fatal error: error in backend", "bisheng: error: no input"]
        {
            assert!(is_diagnostic(line), "{line}");
        }
        for line in ["ImportError: x", "npu-smi: error while loading", "pip subprocess error: x", "ld.lld: error: x"] {
            assert!(!is_diagnostic(line), "{line}");
        }
    }
}
