//! Running a validation.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pto_context::places::driver_root;
use pto_context::{Context, Event, counted};
use pto_docker::Docker;
use pto_process::Status;
use pto_quarantine::Quarantine;
use pto_store::Lock;
use tempfile::TempDir;

use super::cases::{Reservation, reservations};
use super::clean_up::clean_up;
use super::judge::{judged, not_run};
use super::preflight::host;
use super::results::{CaseResult, CaseStatus, Results};
use crate::config::{Config, Image};
use crate::error::Error;
use crate::plan::{self, labels};
use crate::registry::{Digest, Platform};

/// The results, in the output directory.
pub const RESULTS: &str = "results.json";
/// Beside them, locked for as long as a validation writes there.
const LOCK: &str = ".ptokit-validation.lock";
/// What the names of the directories begin with in which cases write.
const WORK: &str = ".ptokit-validation-";

/// One attempt of a run of the workflow. Everything that it starts carries its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run's number.
    pub run: String,
    /// Which attempt of the run this is.
    pub attempt: u32,
    /// The image's name.
    pub image: String,
}

impl Run {
    /// The text by which its containers and tasks are found. It ends with a letter, so that no mark contains that of another
    /// attempt: `-a1` is part of `-a12`, `-a1-x` is not.
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
    /// The image to validate, by any name that the engine on this machine has for it.
    pub local: String,
    /// The file of the plan that it was built from.
    pub lock: PathBuf,
    /// The run that asks for it.
    pub run: Run,
    /// Where logs and results go.
    pub output: PathBuf,
}

/// What a validation came to.
#[derive(Debug)]
pub struct Validated {
    /// How its cases went, as it was saved.
    pub results: Results,
    /// What was in the way of cleaning up; the results count all the same.
    pub left: Option<Error>,
}

impl Validation<'_> {
    /// Runs all cases and saves how they went. A case that fails is a result, not an error.
    ///
    /// # Errors
    /// The host is not the one that the configuration names, or nothing could be run.
    pub fn run(&self, cx: &Context) -> Result<Validated, Error> {
        let mark = self.run.mark();
        // Everything with the mark is removed at the end, that of another process and user too.
        let _mark = Quarantine::of(cx).try_claim(&mark)?.ok_or(Error::BusyRun { mark })?;
        fs_err::create_dir_all(&self.output).map_err(Error::io("make the directory of results"))?;
        let output = fs_err::canonicalize(&self.output).map_err(Error::io("find the directory of results"))?;
        let lock = Lock::try_acquire(&output.join(LOCK)).map_err(Error::Lock)?;
        // Two validations in one directory would take each other's files for their own.
        let _lock = lock.ok_or_else(|| Error::BusyOutput { dir: output.clone() })?;
        let file = output.join(RESULTS);
        // First of all: whatever is refused from here on, the results of an earlier image are not this one's.
        clear(&output)?;
        let lock = plan::Lock::load(&self.lock)?;
        let driver = host(cx, self.image)?;
        let id = self.id(cx, &lock)?;
        let mut results = Results::new(self.image, id.clone(), &lock.recipe.commit, &driver);
        // What cannot be written in the end is found out before a card is used.
        results.save(&file)?;
        remove(&file)?;
        let work = work_dir(&output)?;
        // What the same attempt left when it was killed is in the way of its containers' names.
        clean_up(cx, &self.run)?;
        let cases = self.cases(cx, &id, &output, work.path());
        let cleaned = clean_up(cx, &self.run);
        results.cases = cases?;
        results.save(&file)?;
        Ok(Validated { results, left: cleaned.err() })
    }

    /// The reservations one after the other, until a case fails.
    fn cases(&self, cx: &Context, id: &Digest, output: &Path, work: &Path) -> Result<Vec<CaseResult>, Error> {
        let mut results = Vec::new();
        for reservation in reservations(self.image) {
            if all_passed(&results) {
                results.extend(self.reserve(cx, &reservation, id, output, work)?);
            } else {
                results.extend(reservation.cases.iter().map(not_run));
            }
        }
        Ok(results)
    }

    /// Runs the cases of a reservation. They write to `work`, which no other run knows; their logs go to `output` when they are
    /// over.
    fn reserve(
        &self,
        cx: &Context,
        reservation: &Reservation,
        id: &Digest,
        output: &Path,
        work: &Path,
    ) -> Result<Vec<CaseResult>, Error> {
        let (image, cards) = (&self.image.name, counted(reservation.cards, "card"));
        let names: Vec<_> = reservation.cases.iter().map(|case| case.name).collect();
        let task = format!("validate:{}", names.join("+"));
        let message = format!("Validating {image}: {} on {cards}", names.join(", "));
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let script = reservation.script(self.image, id, &self.run, &driver_root(cx), work);
        let start = Instant::now();
        let ended = reservation.invocation(self.config, &script).run(cx).map_err(Error::Queue)?;
        let results = judged(reservation, work, &ended, start.elapsed().as_secs());
        keep_logs(reservation, work, output)?;
        if ended.status == Status::Interrupted {
            return Err(Error::Interrupted);
        }
        let outcomes: Vec<_> = results.iter().map(outcome).collect();
        cx.emit(Event::Finished { task, message: outcomes.join(", ") });
        Ok(results)
    }

    /// The image's id, if the image is what the configuration and the plan say.
    fn id(&self, cx: &Context, lock: &plan::Lock) -> Result<Digest, Error> {
        let image = Docker::new(cx)?.image(&self.local)?;
        let image = image.ok_or_else(|| Error::NoImage { name: self.local.clone() })?;
        let found = Platform::of(&image);
        if found != self.image.platform() {
            return Err(Error::OtherPlatform { found, expected: self.image.platform() });
        }
        let name = &self.image.name;
        let expected = lock.labels(name);
        let expected = expected.ok_or_else(|| Error::NotPlanned { image: name.clone() })?;
        if let Some(found) = lock.differs(self.config, self.image) {
            return Err(Error::OtherConfiguration { image: name.clone(), found });
        }
        labels::require(&self.local, &expected, &image.labels)?;
        let id = image.id.and_then(|id| id.parse().ok());
        id.ok_or_else(|| Error::NoImage { name: self.local.clone() })
    }
}

fn all_passed(results: &[CaseResult]) -> bool {
    results.iter().all(|case| case.status == CaseStatus::Passed)
}

/// A case for people, with what went wrong: it is known before anything is written down.
fn outcome(case: &CaseResult) -> String {
    let word = match case.status {
        CaseStatus::Passed => "passed",
        CaseStatus::Failed => "failed",
        CaseStatus::NotRun => "not run",
    };
    let problem = case.problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
    format!("{} {word}{problem}", case.name)
}

/// Removes what earlier runs left in the output directory: whatever happens, it must not pass for this one's.
fn clear(output: &Path) -> Result<(), Error> {
    remove(&output.join(RESULTS))?;
    Results::CASES.iter().try_for_each(|case| remove(&output.join(format!("{case}.log"))))?;
    for entry in fs_err::read_dir(output).map_err(Error::io("look into the directory of results"))? {
        let entry = entry.map_err(Error::io("look into the directory of results"))?;
        if entry.file_name().to_string_lossy().starts_with(WORK) && entry.path().is_dir() {
            // A task that outlives its run may still write there.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

fn remove(file: &Path) -> Result<(), Error> {
    match fs_err::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove an earlier result")(error)),
        _ => Ok(()),
    }
}

/// A new directory for what the cases write. Its name is never used again: a task outlives the process that asked for it if that
/// is killed, and must not write its verdict where a later run reads.
fn work_dir(output: &Path) -> Result<TempDir, Error> {
    // With the umask's permissions, not private: the queue may run tasks as another user.
    let permissions = std::fs::Permissions::from_mode(0o777);
    let made = tempfile::Builder::new().prefix(WORK).permissions(permissions).tempdir_in(output);
    made.map_err(Error::io("make a directory for what the cases write"))
}

/// Moves the logs of a reservation's cases to the output directory, where people look for them.
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
