//! The answer of `triage` for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use pto_doctor::triage::{Cause, Finding, Role, Step, Triage, Verdict};

use crate::style;

/// The answer for people: the first cause with all that is known, the rest in a line each.
pub fn text(triage: &Triage) -> String {
    let names = Names::of(triage);
    let mut text = String::new();
    match triage.first_cause() {
        Some(cause) => text.push_str(&in_full(&names, &heading(triage.verdict), cause)),
        None => text.push_str(&without_cause(triage)),
    }
    let groups = [
        (Role::Symptom, "the same trouble in other words"),
        (Role::Fallout, "fallout, not to be looked at"),
        (Role::Expected, "harmless"),
    ];
    for (role, title) in groups {
        list(&mut text, &names, title, triage.findings.iter().filter(|finding| finding.role == role));
    }
    for finding in triage.findings.iter().filter(|finding| finding.role == Role::Separate) {
        let _ = write!(text, "\n{}", in_full(&names, &style::warning("also"), finding));
    }
    for finding in triage.findings.iter().filter(|finding| finding.role == Role::Unknown) {
        let value = finding.code.as_ref().map_or("", |code| code.value.as_str());
        let note = finding.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        let place = place(&names, finding).map(|place| format!(" at {place}")).unwrap_or_default();
        let _ = writeln!(text, "\n{} `{value}`{place}{note}", style::warning("unknown code"));
    }
    if triage.findings.iter().any(|finding| finding.role == Role::Unknown) {
        text.push_str(&unknown_next(triage));
    }
    advice(&mut text, &names, triage);
    text
}

fn heading(verdict: Verdict) -> String {
    match verdict {
        Verdict::Fault => style::error("first cause"),
        _ => style::warning("first cause"),
    }
}

fn without_cause(triage: &Triage) -> String {
    let lines: u64 = triage.sources.iter().map(|source| source.lines).sum();
    match triage.verdict {
        Verdict::Nothing => format!("nothing known was found (lines read: {lines})\n"),
        Verdict::Harmless => format!("{} what was found is harmless\n", style::good("good:")),
        _ => String::new(),
    }
}

fn in_full(names: &Names, heading: &str, finding: &Finding) -> String {
    let mut text = format!("{heading}  {}  {}\n", style::bold(&finding.title), style::dim(format!("[{}]", finding.id)));
    if let Some(code) = &finding.code {
        let _ = writeln!(text, "  {code}");
    }
    if let Some(note) = &finding.note {
        let _ = writeln!(text, "  {note}");
    }
    for line in wrapped(finding.about) {
        let _ = writeln!(text, "  {}", style::dim(line));
    }
    let mut said: Vec<String> = Vec::new();
    for line in finding.evidence.iter().filter(|line| line.line.is_some()) {
        let place = names.short(&line.to_string());
        let _ = writeln!(text, "  {} {}", style::dim(format!("{place}:")), line.text.trim());
        said.push(format!("{line}: {}", line.text));
    }
    let fields: Vec<String> = finding.fields.list().iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !fields.is_empty() {
        let _ = writeln!(text, "  {}", fields.join(", "));
    }
    if finding.count > finding.evidence.len() as u64 {
        let _ = writeln!(text, "  {}", style::dim(format!("seen {} times", finding.count)));
    }
    if !finding.causes.is_empty() {
        let _ = writeln!(text, "\n  {}", style::bold("why, and how to check"));
        finding.causes.iter().enumerate().for_each(|(index, cause)| why(&mut text, names, &mut said, index, cause));
    }
    if !finding.guide.is_empty() {
        let _ = writeln!(text, "\n  {}", style::bold("step by step"));
        finding.guide.iter().enumerate().for_each(|(index, step)| guided(&mut text, index, step));
    }
    text
}

/// In lines that a terminal of usual width holds.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 110;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line that was `said` already is named by its place.
fn why(text: &mut String, names: &Names, said: &mut Vec<String>, index: usize, cause: &Cause) {
    let _ = writeln!(text, "  {}. {}", index + 1, cause.text);
    for evidence in &cause.evidence {
        let shown = match evidence.split_once(": ") {
            Some((place, _)) if said.contains(evidence) => place,
            _ => evidence,
        };
        let _ = writeln!(text, "     {} {}", style::good("speaks for it:"), names.short(shown));
        said.push(evidence.clone());
    }
    command(text, &cause.check);
}

fn guided(text: &mut String, index: usize, step: &Step) {
    let _ = writeln!(text, "  {}. {}", index + 1, step.why);
    command(text, &step.command);
}

fn command(text: &mut String, command: &str) {
    let _ = writeln!(text, "     {} {}", style::dim("$"), command.replace('\n', "\n       "));
}

fn list<'a>(text: &mut String, names: &Names, title: &str, findings: impl Iterator<Item = &'a Finding>) {
    let mut findings = findings.peekable();
    if findings.peek().is_some() {
        let _ = writeln!(text, "\n{}", style::bold(title));
    }
    for finding in findings {
        let code = finding.code.as_ref().map(|code| format!("{} ", code.value)).unwrap_or_default();
        let times = (finding.count > 1).then(|| format!("{} times", finding.count));
        let where_and_how_often: Vec<String> = place(names, finding).into_iter().chain(times).collect();
        let gap = if where_and_how_often.is_empty() { "" } else { "  " };
        let place = style::dim(format!("{}{gap}[{}]", where_and_how_often.join(", "), finding.id));
        let _ = writeln!(text, "  {code}{}  {place}", finding.title);
        if let Some(cause) =
            finding.causes.first().filter(|cause| finding.role == Role::Symptom && !cause.evidence.is_empty())
        {
            let _ = writeln!(text, "     {} ({})", cause.text, names.short(&cause.evidence[0]));
        }
    }
}

/// Where it was first seen; a code that was given stands nowhere.
fn place(names: &Names, finding: &Finding) -> Option<String> {
    finding.evidence.first().filter(|line| line.line.is_some()).map(|line| names.short(&line.to_string()))
}

fn advice(text: &mut String, names: &Names, triage: &Triage) {
    if !triage.lifted.is_empty() {
        let _ = writeln!(text, "\n{}", style::bold("what the log itself says"));
    }
    for lifted in &triage.lifted {
        let place = style::dim(format!("{}:", names.short(&lifted.evidence.to_string())));
        let _ = writeln!(text, "  {place} {}", lifted.detail.as_deref().unwrap_or("(no detail)"));
        if let Some(hint) = &lifted.hint {
            let _ = writeln!(text, "     {} {hint}", style::hint("hint:"));
        }
    }
}

/// What to do with a code that no table names.
fn unknown_next(triage: &Triage) -> String {
    let mut text = String::new();
    if triage.sources.is_empty() {
        let _ = writeln!(text, "  the lines around it may say more:");
        command(&mut text, "cargo xtask triage --log FILE");
    }
    let _ = writeln!(text, "  for whoever knows the program that printed it:");
    command(&mut text, "cargo xtask bundle");
    text
}

/// Logs by their base names, where those tell them apart.
struct Names(Vec<(String, String)>);

impl Names {
    fn of(triage: &Triage) -> Self {
        let base = |name: &str| Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in triage.sources.iter().filter_map(|source| base(&source.name)) {
            *counts.entry(name).or_default() += 1;
        }
        let shorter = |name: &str| base(name).filter(|base| base != name && counts.get(base) == Some(&1));
        let names = triage.sources.iter().filter_map(|source| Some((source.name.clone(), shorter(&source.name)?)));
        Self(names.collect())
    }

    /// `dir/host.log:12` as `host.log:12`, at the beginning of a text or behind its `at`.
    fn short(&self, text: &str) -> String {
        for (name, base) in &self.0 {
            if let Some(rest) = text.strip_prefix(name.as_str()).filter(|rest| rest.starts_with(':')) {
                return format!("{base}{rest}");
            }
            if let Some((head, rest)) = text.split_once(&format!("` at {name}:")) {
                return format!("{head}` at {base}:{rest}");
            }
        }
        text.to_owned()
    }
}
