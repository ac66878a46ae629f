//! Records as Markdown, for a log and for a delivery.

use std::fmt::Write as _;

use pto_platform::RanOn;

use super::bench::{RecordedBench, RecordedTimes};
use super::book::Entry;
use super::model::{Record, RecordedCase};
use crate::bench::{Stats, Times, human};

/// All records, one section each.
pub(super) fn log(entries: &[Entry]) -> String {
    let mut text = "# Verification log\n\nWritten anew after each run; the files beside it say more.\n".to_owned();
    for entry in entries {
        text += "\n";
        text += &entry.record.to_markdown(2);
    }
    text
}

/// The records of one kernel, to be kept beside it.
pub fn delivery(kernel: &str, records: &[&Record]) -> String {
    let mut text = format!("# Verification of {kernel}\n");
    for record in records {
        text += "\n";
        text += &record.to_markdown(2);
    }
    text
}

impl Record {
    /// The record as a section of a Markdown file, with a heading of this level.
    pub fn to_markdown(&self, level: usize) -> String {
        let mark = "#".repeat(level);
        let mut text = format!("{mark} {} on {} ({}): {}\n\n", self.kernel, self.target, self.verb, self.verdict());
        for (name, value) in self.facts() {
            let _ = writeln!(text, "- {name}: {value}");
        }
        if !self.cases.is_empty() {
            text += "\n| case | from | blocks | shapes | verdict | worst error | relative RMSE | R2 |\n|---|---|---|---|---|---|---|---|\n";
            self.cases.iter().for_each(|case| row(case, &mut text));
        }
        if let Some(bench) = &self.bench {
            text += &times(bench);
        }
        let commands = &self.commands;
        let lines = [&vec![commands.repeat.clone()], &commands.compile, &commands.launch];
        let lines: Vec<&str> =
            lines.into_iter().flatten().map(String::as_str).filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            let _ = write!(text, "\n```text\n{}\n```\n", lines.join("\n"));
        }
        text
    }

    /// What stands in the list below the heading.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let versions = &self.versions;
        let mut facts = vec![
            ("written", format!("{} by ptokit {}, {}", self.written_at, versions.ptokit, versions.host)),
            ("ran on", self.ran_on()),
            ("compiler", known(&versions.compiler)),
            ("PTO-ISA headers", known(&versions.pto_isa)),
            ("CANN, driver, PTOAS", [&versions.cann, &versions.driver, &versions.ptoas].map(known).join(", ")),
            ("dims", self.dims.to_string()),
            ("block_dim", format!("`{}`, here {}", self.block_dim.expression, list(&self.block_dim.values))),
            ("tolerances", self.tolerances.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
            ("repeats", format!("{}{}", self.repeats, if self.complete { "" } else { ", not all cases" })),
        ];
        facts.extend(self.blockers.iter().map(|blocker| ("blocked", blocker.replace('\n', " "))));
        if let Some(git) = &self.git {
            let dirty = if git.dirty { ", with changes in the kernel's directory" } else { "" };
            facts.push(("revision", format!("{}{dirty}", git.commit)));
        }
        if let Some(artifact) = &self.digests.artifact {
            facts.push(("artifact", format!("sha256 {}", artifact.sha256)));
        }
        facts.extend(
            self.digests
                .sources
                .iter()
                .map(|file| ("source", format!("`{}` sha256 {}", file.path.display(), file.sha256))),
        );
        facts
    }

    /// What the kernel ran on, in words.
    pub fn ran_on(&self) -> String {
        let soc = self.soc.as_deref().unwrap_or("no SoC");
        match self.mode {
            None => "nothing: it did not run".to_owned(),
            Some(RanOn::Host) => format!("host: the CPU played {soc}; no time here is a device's"),
            Some(RanOn::Model) => format!("model: CANN's simulator of {soc}; no time here is a device's"),
            Some(RanOn::Silicon) => {
                let device = self.device.map(|device| format!("device {device}, ")).unwrap_or_default();
                format!("silicon: {device}{soc}")
            }
        }
    }
}

impl std::fmt::Display for super::Dims {
    /// `n dynamic; tile = 8192 static`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dynamic = (!self.dynamic.is_empty()).then(|| format!("{} dynamic", self.dynamic.join(", ")));
        let fixed: Vec<String> = self.fixed.iter().map(|(name, length)| format!("{name} = {length}")).collect();
        let fixed = (!fixed.is_empty()).then(|| format!("{} static", fixed.join(", ")));
        let parts: Vec<String> = dynamic.into_iter().chain(fixed).collect();
        f.write_str(&if parts.is_empty() { "none".to_owned() } else { parts.join("; ") })
    }
}

impl std::fmt::Display for super::ToleranceUsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ({}) {}", self.output, self.dtype, self.rule)?;
        match &self.reason {
            Some(reason) => write!(f, ", because {reason}"),
            None if self.looser => f.write_str(", looser than the default and without a reason"),
            None => Ok(()),
        }
    }
}

fn row(case: &RecordedCase, text: &mut String) {
    let shapes: Vec<String> = case.shapes.iter().map(|(name, shape)| format!("{name} {shape:?}")).collect();
    let figure = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
    let [worst, rmse] = [case.worst_abs, case.relative_rmse].map(|value| figure(value, |value| format!("{value:.1e}")));
    let r2 = figure(case.r2, |r2| format!("{r2:.6}"));
    // A cell ends at a bar and a row at a line end.
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {worst} | {rmse} | {r2} |",
        cell(&case.case),
        cell(&case.origin),
        case.block_dim,
        shapes.join(", "),
        cell(case.verdict())
    );
}

fn times(bench: &RecordedBench) -> String {
    let mut text = format!("\n{}\n\n| case | median | MAD | GB/s |\n|---|---|---|---|\n", bench.note);
    for RecordedTimes { case, times: Times { seconds, gbps, .. } } in &bench.cases {
        let time = |of: fn(&Stats) -> f64| seconds.as_ref().map_or_else(|| "-".to_owned(), |stats| human(of(stats)));
        let rate = gbps.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}"));
        let _ = writeln!(text, "| {case} | {} | {} | {rate} |", time(|stats| stats.median), time(|stats| stats.mad));
    }
    text
}

fn list(values: &[u32]) -> String {
    match values {
        [] => "never launched".to_owned(),
        values => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
