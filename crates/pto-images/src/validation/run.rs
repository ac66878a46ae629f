//! Running a validation.

use std::io::{BufRead as _, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pto_context::places::driver_root;
use pto_context::{Context, Event, counted, files};
use pto_docker::Docker;
use pto_process::{Output, Status};
use pto_store::Lock;
use tempfile::TempDir;

use super::cases::{Case, PASS, Reservation, reservations};
use super::clean_up::clean_up;
use super::preflight::host;
use super::results::{CaseResult, CaseStatus, Results};
use crate::config::{Config, Image};
use crate::error::Error;
use crate::plan::{self, labels};
use crate::registry::{Digest, Platform};

/// The file in the directory of a validation.
const RESULTS: &str = "results.json";
/// Beside it, locked as long as a validation writes there.
const LOCK: &str = ".ptokit-validation.lock";
/// How the directories begin in which the cases of one run write.
const WORK: &str = ".ptokit-validation-";

/// One attempt of one run: everything that it starts has its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run.
    pub run: String,
    /// The attempt.
    pub attempt: u32,
    /// The image's name.
    pub image: String,
}

impl Run {
    /// What its containers and tasks are found by. It ends with a letter, so that the mark of run 1 is not in that of run 12.
    pub fn mark(&self) -> String {
        format!("ptokit-images-{}-r{}-a{}-x", self.image, self.run, self.attempt)
    }
}

/// A validation.
#[derive(Debug, Clone)]
pub struct Validation<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The image in it.
    pub image: &'a Image,
    /// The image of the engine here, by any name.
    pub local: String,
    /// The plan that it was built from.
    pub lock: &'a plan::Lock,
    /// Whose it is.
    pub run: Run,
    /// Where logs and results go.
    pub output: PathBuf,
}

impl Validation<'_> {
    /// Runs all cases and writes down how they went. A negative result is a result.
    ///
    /// # Errors
    /// The host is not the one that the configuration names, or nothing could be run.
    pub fn run(&self, cx: &Context) -> Result<Results, Error> {
        let driver = host(cx, self.image)?;
        let id = self.id(cx)?;
        fs_err::create_dir_all(&self.output).map_err(Error::io("make the directory of results"))?;
        let output = fs_err::canonicalize(&self.output).map_err(Error::io("find the directory of results"))?;
        // What another one writes would be taken for what this one found.
        let lock = Lock::try_acquire(&output.join(LOCK)).map_err(Error::Lock)?;
        let _lock = lock.ok_or_else(|| Error::BusyOutput { dir: output.clone() })?;
        let file = output.join(RESULTS);
        // Those of an earlier attempt are of no use, and would be taken for this one's.
        let _ = std::fs::remove_file(&file);
        let work = work_dir(&output)?;
        let mut results = Results::new(&self.image.name, id.clone(), &self.lock.recipe.commit, &driver);
        let outcome = self.cases(cx, &id, (&output, work.path()), &mut results);
        let cleaned = clean_up(cx, &self.run);
        outcome?;
        results.save(&file)?;
        cleaned.map(|_| results)
    }

    /// Cases write where nobody else does, and what they wrote is put beside the results when they are over.
    fn cases(
        &self,
        cx: &Context,
        id: &Digest,
        (output, work): (&Path, &Path),
        results: &mut Results,
    ) -> Result<(), Error> {
        let driver = driver_root(cx);
        let mut sound = true;
        for reservation in reservations(self.image) {
            if !sound {
                results.cases.extend(reservation.cases.iter().map(not_run));
                continue;
            }
            let script = reservation.script(self.image, id, &self.run, &driver, work);
            let names: Vec<_> = reservation.cases.iter().map(|case| case.name).collect();
            let task = format!("validate:{}", names.join("+"));
            let message = format!(
                "Validating {}: {} on {}",
                self.image.name,
                names.join(", "),
                counted(reservation.cards, "card")
            );
            cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
            let start = Instant::now();
            let ended = reservation.invocation(self.config, &script).run(cx).map_err(Error::Queue)?;
            let seconds = start.elapsed().as_secs();
            let judged = judged(&reservation, work, &ended, seconds);
            keep_logs(&reservation, work, output)?;
            if ended.status == Status::Interrupted {
                return Err(Error::Interrupted);
            }
            results.cases.extend(judged);
            sound = results.cases.iter().all(|case| case.status == CaseStatus::Passed);
            let message = format!("{}: {}", names.join(", "), if sound { "passed" } else { "failed" });
            cx.emit(Event::Finished { task, message });
        }
        Ok(())
    }

    fn id(&self, cx: &Context) -> Result<Digest, Error> {
        let image = Docker::new(cx)?.image(&self.local)?;
        let image = image.ok_or_else(|| Error::NoImage { name: self.local.clone() })?;
        let (os, architecture) = (image.os.unwrap_or_default(), image.architecture.unwrap_or_default());
        let found = Platform { os, architecture };
        if found != self.image.platform() {
            return Err(Error::OtherPlatform { found, expected: self.image.platform() });
        }
        let name = &self.image.name;
        let expected = self.lock.labels(name);
        let expected = expected.ok_or_else(|| Error::NoPin {
            what: "the image",
            place: format!("the plan of `{name}`"),
            note: None,
        })?;
        labels::require(&self.local, &expected, &image.labels)?;
        let id = image.id.and_then(|id| id.parse().ok());
        id.ok_or_else(|| Error::NoImage { name: self.local.clone() })
    }
}

/// A new directory below the output, without the logs and the directories of earlier runs. A task outlives the process that
/// asked for it if that is killed, and would write its own verdict in the place of this run's; so no name is used twice.
fn work_dir(output: &Path) -> Result<TempDir, Error> {
    let failed = "make a directory for what the cases write";
    for entry in fs_err::read_dir(output).map_err(Error::io(failed))? {
        let entry = entry.map_err(Error::io(failed))?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(WORK) && entry.path().is_dir() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
        if Results::CASES.iter().any(|case| *name == *format!("{case}.log")) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    // Not private, as the queue may run tasks as another user; by the umask, as the output itself.
    let permissions = std::fs::Permissions::from_mode(0o777);
    let made = tempfile::Builder::new().prefix(WORK).permissions(permissions).tempdir_in(output);
    made.map_err(Error::io(failed))
}

/// Puts the logs of cases that are over where people look for them.
fn keep_logs(reservation: &Reservation, work: &Path, output: &Path) -> Result<(), Error> {
    for case in &reservation.cases {
        match fs_err::rename(work.join(case.log()), output.join(case.log())) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("keep the log of a case")(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn not_run(case: &Case) -> CaseResult {
    let problem = Some("a case before it did not pass".to_owned());
    CaseResult { name: case.name.to_owned(), status: CaseStatus::NotRun, problem, log: None, seconds: 0 }
}

/// How the cases of a reservation went, by what they wrote.
fn judged(reservation: &Reservation, work: &Path, ended: &Output, seconds: u64) -> Vec<CaseResult> {
    let mut sound = true;
    let judge = |case: &Case| {
        if !sound {
            return not_run(case);
        }
        let problem = problem(case, work, ended);
        sound = problem.is_none();
        let log = work.join(case.log()).is_file().then(|| case.log());
        let status = if sound { CaseStatus::Passed } else { CaseStatus::Failed };
        CaseResult { name: case.name.to_owned(), status, problem, log, seconds }
    };
    reservation.cases.iter().map(judge).collect()
}

/// What is wrong with how a case ended.
fn problem(case: &Case, work: &Path, ended: &Output) -> Option<String> {
    let unreadable = |error: std::io::Error| format!("it is not known how it ended: {error}");
    let code = match fs_err::read_to_string(work.join(case.code())) {
        Ok(code) => code,
        // It is written when the case ends.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Some(unreadable(error)),
    };
    match code.trim() {
        "0" => {}
        "" => {
            let words = Some(ended.last_words(3)).filter(|words| !words.is_empty());
            let said = words.map(|words| format!("; it said: {words}")).unwrap_or_default();
            return Some(format!("it did not come to its end: the reservation {}{said}", ended.status));
        }
        code => return Some(format!("it ended with code {code}")),
    }
    let says_pass = match says_pass(&work.join(case.log())) {
        Ok(says_pass) => says_pass,
        Err(error) => return Some(format!("it ended with 0, and what it said is not known: {error}")),
    };
    (case.says_pass && !says_pass).then(|| format!("it ended with 0 and never said `{PASS}`"))
}

/// Whether a line of a log begins with the word. A log may be larger than memory, and so may a line of it.
fn says_pass(log: &Path) -> std::io::Result<bool> {
    const LONGEST: u64 = 64 << 10;
    let mut log = std::io::BufReader::new(files::open_regular(log)?);
    let (mut part, mut begins_line) = (Vec::new(), true);
    loop {
        part.clear();
        if log.by_ref().take(LONGEST).read_until(b'\n', &mut part)? == 0 {
            return Ok(false);
        }
        if begins_line && part.trim_ascii_start().starts_with(PASS.as_bytes()) {
            return Ok(true);
        }
        begins_line = part.ends_with(b"\n");
    }
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
