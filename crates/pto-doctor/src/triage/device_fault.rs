//! Exceptions of cores: a line with the registers, then lines with the reason and the scheduler's result.

use super::evidence::Evidence;
use super::fields::{CoreKind, Fields};
use super::tables::{TASK_RESULTS, find, number};

/// Lines after the first one in which details still belong to it.
const REACH: u64 = 24;

/// An exception whose details may still come.
#[derive(Debug)]
pub(super) struct DeviceFault {
    pub(super) fields: Fields,
    pub(super) evidence: Vec<Evidence>,
    last_line: u64,
}

impl DeviceFault {
    /// Begins with the line that reports it.
    pub(super) fn new(text: &str, evidence: Evidence) -> Self {
        let mut fields = Fields::of_line(text, &[]);
        fields.core_kind = Some(core_kind(text));
        if let Some((_, reason)) = text.split_once(" instruction error: ") {
            fields.reason = Some(reason.split(',').next().unwrap_or(reason).trim().to_owned());
        }
        Self { fields, last_line: evidence.position.line, evidence: vec![evidence] }
    }

    /// Whether a line with details, or another report of the AICPU, still belongs to it.
    pub(super) fn takes(&self, line: u64) -> bool {
        line.saturating_sub(self.last_line) <= REACH
    }

    /// Whether another report is of the same exception: the AICPU reports it twice, first by the scheduler with chip
    /// and die, then by the host with the names.
    pub(super) fn is_continued_by(&self, text: &str, line: u64) -> bool {
        let aicpu = Some(CoreKind::Aicpu);
        let names = text.contains("kernel execute failed") && self.fields.so_name.is_none();
        self.fields.core_kind == aicpu && core_kind(text) == CoreKind::Aicpu && names && self.takes(line)
    }

    /// Takes in a line with details.
    pub(super) fn add(&mut self, text: &str, evidence: Evidence) {
        let fields = Fields::of_line(text, &[]);
        // What the AICPU kernel returned says more than nothing, and the reason more than what stands there already.
        self.fields.fill_from(fields);
        self.last_line = evidence.position.line;
        self.evidence.push(evidence);
    }

    /// The rule that it belongs to.
    pub(super) fn rule(&self) -> &'static str {
        match (self.fields.core_kind, self.timed_out()) {
            (Some(CoreKind::Aicpu), false) => "aicpu-exception",
            (Some(CoreKind::Aicpu), true) => "aicpu-timeout",
            (Some(CoreKind::Aiv), false) => "aiv-exception",
            (Some(CoreKind::Aiv), true) => "aiv-timeout",
            (_, false) => "aic-exception",
            (_, true) => "aic-timeout",
        }
    }

    /// `timeout or trap error` leaves open which: the scheduler's result says it, and without one it was a time-out,
    /// which is by far the more common.
    fn timed_out(&self) -> bool {
        let result = self.fields.ret_code.as_deref().and_then(number).and_then(|code| find(&TASK_RESULTS, &code));
        match result {
            Some(result) => result.meaning.contains("timeout"),
            None => self.fields.reason.as_deref().is_some_and(|reason| reason.contains("timeout")),
        }
    }
}

/// The core that a report is of. `aic error mask` is among the registers of every core.
fn core_kind(text: &str) -> CoreKind {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["AICPU", "Aicpu", "AI CPU"]) {
        CoreKind::Aicpu
    } else if has(&["aivec", "aivector", "vector core", "VEC instruction"]) {
        CoreKind::Aiv
    } else {
        CoreKind::Aic
    }
}
