//! `triage`: what error codes and logs mean.

use std::fmt::Write as _;
use std::io::{BufReader, IsTerminal as _, stdin};
use std::path::{Path, PathBuf};

use pto_context::with_causes;
use pto_doctor::triage::{Cause, Finding, Role, Step, Surroundings, Triage, TriageError, Triager, Verdict};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// What a log read from standard input is called.
const STDIN: &str = "stdin";
/// Bytes read at a time: logs of gigabytes are read from end to end.
const CHUNK: usize = 256 << 10;

/// `triage`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Explaining a fault is success: the exit code is 0 whatever was found, and 2 if a code or file cannot be read.\n\n\
                  Example:\n  cargo xtask triage 507018\n  cargo xtask triage --log run.log slog.txt\n  \
                  some-command 2>&1 | cargo xtask triage"
)]
pub struct Args {
    /// Error codes: `507018`, `-8020`, `EL0005`, `0x2a`, `ACL_ERROR_RT_NO_DEVICE`, an exit status such as `172`
    #[arg(value_name = "CODE", allow_negative_numbers = true)]
    codes: Vec<String>,
    /// Logs of any kind and size; `-` is standard input, which is read too if it is a pipe and nothing else is given
    #[arg(long, value_name = "FILE", num_args = 1..)]
    log: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What `triage --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    triage: &'a Triage,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut surroundings = Surroundings::of(&cx);
    surroundings.processor = pto_platform::Machine::current();
    surroundings.cpus = std::thread::available_parallelism().ok().map(Into::into);
    let mut triager = Triager::new(surroundings);
    for code in &args.codes {
        triager.code(code).map_err(refused)?;
    }
    for log in logs(args)? {
        read(&mut triager, &log)?;
    }
    let triage = triager.finish();
    if args.common.json {
        out::json(&Document { schema: "ptokit.triage/1", triage: &triage })?;
    } else {
        out::text(&text(&triage))?;
    }
    Ok(Outcome::Passed)
}

fn logs(args: &Args) -> Result<Vec<PathBuf>, Failure> {
    if !args.log.is_empty() || !args.codes.is_empty() {
        return Ok(args.log.clone());
    }
    if stdin().is_terminal() {
        return Err(Failure::usage(
            "there is nothing to triage",
            "give codes, logs with `--log`, or pipe a command's output: `some-command 2>&1 | cargo xtask triage`"
                .to_owned(),
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

fn read(triager: &mut Triager, log: &Path) -> Result<(), Failure> {
    if log == Path::new("-") {
        return triager.log(STDIN, BufReader::with_capacity(CHUNK, stdin().lock())).map_err(refused);
    }
    let file = fs_err::File::open(log).map_err(|error| Failure::usage(with_causes(&error), None))?;
    triager.log(&log.display().to_string(), BufReader::with_capacity(CHUNK, file)).map_err(refused)
}

fn refused(error: TriageError) -> Failure {
    Failure::usage(with_causes(&error), error.hint().map(str::to_owned))
}

/// The answer for people: the first cause with all that is known, the rest in a line each.
fn text(triage: &Triage) -> String {
    let mut text = String::new();
    match triage.first_cause() {
        Some(cause) => text.push_str(&in_full(&heading(triage.verdict), cause)),
        None => text.push_str(&without_cause(triage)),
    }
    let groups = [
        (Role::Symptom, "the same trouble in other words"),
        (Role::Fallout, "fallout, not to be looked at"),
        (Role::Expected, "harmless"),
    ];
    for (role, title) in groups {
        list(&mut text, title, triage.findings.iter().filter(|finding| finding.role == role));
    }
    for finding in triage.findings.iter().filter(|finding| finding.role == Role::Separate) {
        let _ = write!(text, "\n{}", in_full(&style::warning("also"), finding));
    }
    for finding in triage.findings.iter().filter(|finding| finding.role == Role::Unknown) {
        let value = finding.code.as_ref().map_or("", |code| code.value.as_str());
        let note = finding.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        let place = place(finding).map(|place| format!(" at {place}")).unwrap_or_default();
        let _ = writeln!(text, "\n{} `{value}`{place}{note}", style::warning("unknown code"));
    }
    advice(&mut text, triage);
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

fn in_full(heading: &str, finding: &Finding) -> String {
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
    for line in finding.evidence.iter().filter(|line| line.line.is_some()) {
        let _ = writeln!(text, "  {} {}", style::dim(format!("{line}:")), line.text.trim());
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
        finding.causes.iter().enumerate().for_each(|(index, cause)| why(&mut text, index, cause));
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

fn why(text: &mut String, index: usize, cause: &Cause) {
    let _ = writeln!(text, "  {}. {}", index + 1, cause.text);
    for evidence in &cause.evidence {
        let _ = writeln!(text, "     {} {evidence}", style::good("speaks for it:"));
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

fn list<'a>(text: &mut String, title: &str, findings: impl Iterator<Item = &'a Finding>) {
    let mut findings = findings.peekable();
    if findings.peek().is_some() {
        let _ = writeln!(text, "\n{}", style::bold(title));
    }
    for finding in findings {
        let code = finding.code.as_ref().map(|code| format!("{} ", code.value)).unwrap_or_default();
        let times = (finding.count > 1).then(|| format!("{} times", finding.count));
        let where_and_how_often: Vec<String> = place(finding).into_iter().chain(times).collect();
        let gap = if where_and_how_often.is_empty() { "" } else { "  " };
        let place = style::dim(format!("{}{gap}[{}]", where_and_how_often.join(", "), finding.id));
        let _ = writeln!(text, "  {code}{}  {place}", finding.title);
        if let Some(cause) =
            finding.causes.first().filter(|cause| finding.role == Role::Symptom && !cause.evidence.is_empty())
        {
            let _ = writeln!(text, "     {} ({})", cause.text, cause.evidence[0]);
        }
    }
}

/// Where it was first seen; a code that was given stands nowhere.
fn place(finding: &Finding) -> Option<String> {
    finding.evidence.first().filter(|line| line.line.is_some()).map(ToString::to_string)
}

fn advice(text: &mut String, triage: &Triage) {
    if !triage.lifted.is_empty() {
        let _ = writeln!(text, "\n{}", style::bold("what the log itself says"));
    }
    for lifted in &triage.lifted {
        let place = style::dim(format!("{}:", lifted.evidence));
        let _ = writeln!(text, "  {place} {}", lifted.detail.as_deref().unwrap_or("(no detail)"));
        if let Some(hint) = &lifted.hint {
            let _ = writeln!(text, "     {} {hint}", style::hint("hint:"));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use pto_doctor::triage::rules;

    /// What the rules tell people to type is something that can be typed.
    #[test]
    fn commands_of_the_rules_are_understood() {
        let pages: String = rules::all().map(|rule| rule.page()).collect();
        let commands: Vec<&str> = pages.split("cargo xtask ").skip(1).collect();
        assert!(!commands.is_empty());
        for command in commands {
            let command = command.split(['\n', ';', '#', '|', '`']).next().unwrap();
            let words = shlex::split(command.trim()).unwrap();
            let parsed = crate::cli::Cli::try_parse_from(["xtask".to_owned()].into_iter().chain(words));
            assert!(parsed.is_ok(), "cargo xtask {command}: {}", parsed.unwrap_err());
        }
    }
}
