//! How a case went, judged by the files that it wrote.

use std::io::{BufRead as _, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use pto_context::files;
use pto_process::Output;

use super::cases::{Case, PASS, Reservation};
use super::results::{CaseResult, CaseStatus};

/// Far above any exit code.
const LONGEST_CODE: u64 = 1 << 10;
/// How many letters of what a queue said are kept.
const LONGEST_WORDS: usize = 1000;

pub(super) fn not_run(case: &Case) -> CaseResult {
    let problem = Some("a case before it did not pass".to_owned());
    CaseResult { name: case.name.to_owned(), status: CaseStatus::NotRun, problem, log: None, seconds: 0 }
}

/// The cases of a reservation that took `seconds`, after the first failure as not run. `ended` is the queue's client.
pub(super) fn judged(reservation: &Reservation, work: &Path, ended: &Output, seconds: u64) -> Vec<CaseResult> {
    let mut all_passed = true;
    let judge = |case: &Case| {
        if !all_passed {
            return not_run(case);
        }
        let problem = problem(case, work, ended);
        all_passed = problem.is_none();
        let log = work.join(case.log()).is_file().then(|| case.log());
        let status = if all_passed { CaseStatus::Passed } else { CaseStatus::Failed };
        CaseResult { name: case.name.to_owned(), status, problem, log, seconds }
    };
    reservation.cases.iter().map(judge).collect()
}

/// Why a case did not pass; `None` if it did.
fn problem(case: &Case, work: &Path, ended: &Output) -> Option<String> {
    let unreadable = |error| format!("it is not known how it ended: `{}`: {}", case.code(), files::reason(&error));
    let code = match files::bytes(&work.join(case.code()), LONGEST_CODE) {
        Ok(code) => String::from_utf8_lossy(&code).into_owned(),
        // The file is written when the case ends.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Some(unreadable(error)),
    };
    match code.trim() {
        "0" => {}
        "" => {
            let words = Some(shortened(&ended.last_words(3))).filter(|words| !words.is_empty());
            let said = words.map(|words| format!("; it said: {words}")).unwrap_or_default();
            return Some(format!("it did not come to its end: the reservation {}{said}", ended.status));
        }
        // Docker's own codes, where the container did not begin: `docker run --help` and its manual.
        code @ ("125" | "126" | "127") => {
            return Some(format!(
                "it ended with code {code}, which is Docker's: its log says why the container did not begin"
            ));
        }
        code => {
            let said = last_line(&work.join(case.log())).map(|line| format!("; its log ends with: {line}"));
            return Some(format!("it ended with code {}{}", shortened(code), said.unwrap_or_default()));
        }
    }
    let says_pass = match says_pass(&work.join(case.log())) {
        Ok(says_pass) => says_pass,
        Err(error) => return Some(format!("it ended with 0, and what it said is not known: {error}")),
    };
    (case.says_pass && !says_pass).then(|| format!("it ended with 0 and never said `{PASS}`"))
}

/// A line that people read, of what may be a dump.
fn shortened(words: &str) -> String {
    match words.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words.to_owned(),
    }
}

/// The last line of a log that says something.
fn last_line(log: &Path) -> Option<String> {
    const END: u64 = 4 << 10;
    let mut log = files::open_regular(log).ok()?;
    let length = log.metadata().ok()?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    log.take(END).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(shortened)
}

/// Whether a line of a log says [`PASS`]. Reads in parts, since a log or one of its lines may be larger than memory.
fn says_pass(log: &Path) -> std::io::Result<bool> {
    const LONGEST: u64 = 64 << 10;
    let mut log = std::io::BufReader::new(files::open_regular(log)?);
    let (mut part, mut begins_line) = (Vec::new(), true);
    loop {
        part.clear();
        if log.by_ref().take(LONGEST).read_until(b'\n', &mut part)? == 0 {
            return Ok(false);
        }
        if begins_line && is_pass(&part) {
            return Ok(true);
        }
        begins_line = part.ends_with(b"\n");
    }
}

/// Whether a line begins with [`PASS`], as words of their own: `[RUN] PASSED 0 of 7` says something else.
fn is_pass(line: &[u8]) -> bool {
    let rest = line.trim_ascii_start().strip_prefix(PASS.as_bytes());
    rest.is_some_and(|rest| rest.first().is_none_or(|next| next.is_ascii_whitespace() || b".,:;!(".contains(next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_cannot_be_read_is_no_pass() {
        let dir = tempfile::tempdir().unwrap();
        let case = Case { name: "doctor", says_pass: false, script: String::new() };
        let ended = pto_process::Invocation::new("true").run(&pto_test::machine()).unwrap();
        let found = || problem(&case, dir.path(), &ended).unwrap_or_default();
        assert!(found().contains("did not come to its end"), "{}", found());
        // A directory is neither code nor log.
        fs_err::create_dir(dir.path().join("doctor.code")).unwrap();
        assert!(found().contains("not known how it ended") && found().contains("doctor.code"), "{}", found());
        fs_err::remove_dir(dir.path().join("doctor.code")).unwrap();
        fs_err::write(dir.path().join("doctor.code"), "0\n").unwrap();
        assert!(found().contains("what it said is not known"), "{}", found());
        fs_err::write(dir.path().join("doctor.log"), "").unwrap();
        assert_eq!(found(), "");
    }

    #[test]
    fn a_failure_says_how_its_log_ends() {
        let dir = tempfile::tempdir().unwrap();
        let case = Case { name: "doctor", says_pass: false, script: String::new() };
        let ended = pto_process::Invocation::new("true").run(&pto_test::machine()).unwrap();
        let found = || problem(&case, dir.path(), &ended).unwrap();
        fs_err::write(dir.path().join("doctor.code"), "1\n").unwrap();
        assert_eq!(found(), "it ended with code 1");
        for (log, said) in [("one\nfail driver\n\n", "fail driver"), ("\u{fffd}\nend", "end")] {
            fs_err::write(dir.path().join("doctor.log"), format!("{}{log}", "x".repeat(10_000))).unwrap();
            assert_eq!(found(), format!("it ended with code 1; its log ends with: {said}"));
        }
        fs_err::write(dir.path().join("doctor.log"), "x".repeat(10_000)).unwrap();
        assert!(found().len() < 1100, "{}", found());
    }

    #[test]
    fn only_a_line_that_begins_so_is_a_pass() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let long = "x".repeat(200 << 10);
        for (text, expected) in [
            (format!("one\n  {PASS} all\n"), true),
            (PASS.to_owned(), true),
            (format!("\u{fffd}\n{PASS}"), true),
            (format!("not {PASS}\n"), false),
            (format!("{long}{PASS}\n"), false),
            (format!("{PASS} (12 ms)"), true),
            (format!("{PASS}: 3 outputs"), true),
            (format!("{PASS}ED 0 of 7"), false),
            (format!("{PASS}-THROUGH mode"), false),
            (format!("{long}\n{PASS}\n"), true),
            (String::new(), false),
        ] {
            fs_err::write(&log, &text).unwrap();
            assert_eq!(says_pass(&log).unwrap(), expected, "{}", &text[text.len().saturating_sub(40)..]);
        }
        let part = "x".repeat((64 << 10) - 1);
        fs_err::write(&log, format!("y{part}{PASS}\n")).unwrap();
        assert!(!says_pass(&log).unwrap(), "where a part of a line is cut, no line begins");
        assert!(says_pass(dir.path()).is_err());
    }
}
