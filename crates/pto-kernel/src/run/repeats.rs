//! The repeats of a case: whether each is right, and whether all are the same.

use std::collections::BTreeMap;

use pto_golden::{Options, Report as OutputReport, Rule, Tensor, judge};
use pto_launch::Launched;
use serde::Serialize;

/// What the repeats of a case say together.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Repeats {
    /// How often it was to be launched.
    pub asked: u32,
    /// How many launches completed.
    pub completed: u32,
    /// Whether all gave the same bits; `None` if fewer than two completed, or the launch did not.
    pub deterministic: Option<bool>,
    /// The repeats whose outputs are wrong, counted from 1.
    pub wrong: Vec<u32>,
    /// The first repeat that gave other bits than the first of all.
    pub differs: Option<Difference>,
}

/// Where two repeats part.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The repeat that differs from the first one, counted from 1.
    pub repeat: u32,
    /// The output, of several the first by name; `None` if only an input differs, to which the kernel wrote.
    pub output: Option<String>,
    /// How many of its elements differ, and which is furthest off.
    pub message: String,
    /// The first element that differs.
    pub index: Option<Vec<usize>>,
}

impl Repeats {
    /// Before anything was launched.
    pub(super) fn asked(asked: u32) -> Self {
        Self { asked, ..Self::default() }
    }

    /// Takes in what a launch says of itself.
    pub(super) fn take(&mut self, launched: &Launched) {
        self.completed = u32::try_from(launched.runs.len()).unwrap_or(u32::MAX);
    }

    /// Takes in how each variant of the outputs compares with the golden.
    pub(super) fn take_verdicts(&mut self, launched: &Launched, right: &[bool]) {
        let is_right = |variant: Option<u32>| variant.and_then(|variant| right.get(variant as usize)).copied();
        let wrong = launched.runs.iter().zip(1..).filter(|(run, _)| is_right(run.variant) == Some(false));
        self.wrong = wrong.map(|(_, repeat)| repeat).collect();
        if launched.runs.len() > 1 {
            self.deterministic = Some(launched.variants.count() == 1);
        }
    }

    /// Takes in what a repeat with other outputs than the first gave.
    pub(super) fn take_difference(
        &mut self,
        launched: &Launched,
        first: &BTreeMap<String, Tensor>,
        second: &BTreeMap<String, Tensor>,
    ) {
        let repeat = launched.runs.iter().zip(1..).find(|(run, _)| run.variant != Some(0)).map(|(_, repeat)| repeat);
        self.differs = repeat.map(|repeat| difference(repeat, first, second));
    }

    /// For people: which repeat differs from which, where, and what the golden says.
    pub(super) fn sentence(&self) -> String {
        let part = self.differs.as_ref().map_or_else(
            || "the repeats give different bits".to_owned(),
            |Difference { repeat, output, message, .. }| {
                let output = output.as_ref().map(|name| format!("`{name}`: ")).unwrap_or_default();
                format!("repeat {repeat} of {} differs from the first: {output}{message}", self.asked)
            },
        );
        let golden = match self.wrong.as_slice() {
            [] => "each is right within its tolerance".to_owned(),
            [one] => format!("repeat {one} is wrong"),
            some if some.len() == self.completed as usize => "every one is wrong".to_owned(),
            some => format!("{} are wrong, the first of them repeat {}", some.len(), some[0]),
        };
        format!("{part}; {golden}")
    }
}

fn difference(repeat: u32, first: &BTreeMap<String, Tensor>, second: &BTreeMap<String, Tensor>) -> Difference {
    let reports = second.iter().filter_map(|(name, tensor)| {
        let report = judge(tensor, first.get(name)?, &Rule::Determinism, &Options::default());
        (!report.passed()).then_some((name, report))
    });
    let Some((name, report)) = reports.into_iter().next() else {
        // All that differs is what is no output: an input that the kernel wrote to.
        let message = "it left another value in one of its inputs".to_owned();
        return Difference { repeat, output: None, message, index: None };
    };
    Difference { repeat, output: Some(name.clone()), index: first_index(&report), message: report.message }
}

fn first_index(report: &OutputReport) -> Option<Vec<usize>> {
    report.first.first().map(|mismatch| mismatch.index.to_vec())
}
