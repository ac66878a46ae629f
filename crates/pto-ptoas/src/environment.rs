//! A virtual environment that holds one wheel and nothing else.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, Event};
use pto_process::{Error as ProcessError, Invocation, Output, Status};
use pto_store::Staging;
use serde::Serialize;

use crate::error::{Attempt, Error};
use crate::host;
use crate::isolated::isolated;

use crate::python::Interpreter;

/// How long one step may take. Unpacking 300 MB onto a slow disk takes minutes.
const STEP: Duration = Duration::from_secs(15 * 60);

/// How many of a tool's last lines are shown.
const LAST_WORDS: usize = 8;

/// What made the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// `uv venv`, `uv pip install`.
    Uv,
    /// `python -m venv`, `pip install`.
    Pip,
}

/// How one try ended.
enum Try {
    Done,
    Absent,
    Failed(Attempt),
}

/// Fills the directory: with `uv` where it is there and works, else with `venv` and `pip`.
pub(crate) fn build(cx: &Context, staging: &Staging, python: &Interpreter, wheel: &Path) -> Result<Tool, Error> {
    let mut attempts = Vec::new();
    for (tool, fill) in [(Tool::Uv, with_uv as fn(&_, &_, &_, &_) -> _), (Tool::Pip, with_pip)] {
        match fill(cx, staging, python, wheel)? {
            Try::Done => return Ok(tool),
            Try::Absent => {}
            Try::Failed(attempt) => {
                cx.emit(Event::Warning { message: format!("{}; trying another way", attempt.ended) });
                attempts.push(attempt);
            }
        }
        empty(staging.dir())?;
    }
    Err(Error::Environment { python: python.path.clone(), attempts })
}

fn with_uv(cx: &Context, staging: &Staging, python: &Interpreter, wheel: &Path) -> Result<Try, Error> {
    let scratch = scratch(staging)?;
    let uv = |args: &[&str]| {
        isolated(cx, Invocation::new("uv").args(args))
            .args(["--offline", "--no-config", "--no-progress"])
            // On the same file system, so that what is unpacked there is linked and not copied.
            .env("UV_CACHE_DIR", scratch.join("uv-cache"))
            .env("UV_PYTHON_DOWNLOADS", "never")
            .env("TMPDIR", &scratch)
    };
    let steps = [
        uv(&["venv", "--no-project", "--allow-existing"]).arg("--python").arg(&python.path).arg(staging.dir()),
        uv(&["pip", "install", "--no-deps", "--no-index", "--strict"])
            .arg("--python")
            .arg(staging.dir().join("bin/python"))
            .arg(wheel),
    ];
    run_all(cx, staging, steps)
}

fn with_pip(cx: &Context, staging: &Staging, python: &Interpreter, wheel: &Path) -> Result<Try, Error> {
    let scratch = scratch(staging)?;
    let pip = |args: &[&str]| {
        isolated(cx, Invocation::new(staging.dir().join("bin/python")).args(["-I", "-m", "pip"]).args(args))
            .args(["--isolated", "--disable-pip-version-check", "--no-input", "--no-cache-dir"])
            .env("TMPDIR", &scratch)
    };
    let steps = [
        isolated(cx, Invocation::new(&python.path).args(["-I", "-m", "venv"]))
            .arg(staging.dir())
            .env("TMPDIR", &scratch),
        pip(&["install", "--no-index", "--no-deps", "--no-compile", "--quiet"]).arg(wheel),
        // The directory comes before PyPTO's own packages, where an installer of another environment has no business.
        pip(&["uninstall", "--yes", "--quiet", "pip", "setuptools"]),
    ];
    run_all(cx, staging, steps)
}

fn run_all<const N: usize>(cx: &Context, staging: &Staging, steps: [Invocation; N]) -> Result<Try, Error> {
    for step in steps {
        match run(cx, staging, step.deadline(STEP))? {
            Try::Done => {}
            other => return Ok(other),
        }
    }
    Ok(Try::Done)
}

fn run(cx: &Context, staging: &Staging, step: Invocation) -> Result<Try, Error> {
    let line = step.to_shell_line();
    let output = match step.run(cx) {
        Ok(output) => output,
        Err(ProcessError::NotFound { .. }) => return Ok(Try::Absent),
        Err(error) if error.is_interrupted() => return Err(Error::interrupted()),
        Err(error) => {
            let last_words = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            return Ok(Try::Failed(Attempt { line, ended: error.to_string(), last_words }));
        }
    };
    match output.status {
        Status::Exited(0) => Ok(Try::Done),
        Status::Interrupted => Err(Error::interrupted()),
        _ if output.says_disk_full() || host::is_full(staging.dir()) => {
            let source = std::io::Error::new(std::io::ErrorKind::StorageFull, output.last_words(2));
            Err(Error::write("cannot install", staging.dir(), source))
        }
        // What shells, and the stubs of version managers, say of a program that is not there.
        Status::Exited(126 | 127) => Ok(Try::Absent),
        _ => Ok(Try::Failed(failed(line, &output))),
    }
}

fn failed(line: String, output: &Output) -> Attempt {
    Attempt {
        line,
        ended: format!("`{}` {}", output.program, output.status),
        last_words: output.last_words(LAST_WORDS),
    }
}

fn scratch(staging: &Staging) -> Result<PathBuf, Error> {
    let scratch = staging.scratch();
    fs_err::create_dir_all(&scratch).map_err(|e| Error::write("cannot install", staging.dir(), e))?;
    Ok(scratch)
}

/// What a failed try has left must not be found by the next one.
fn empty(dir: &Path) -> Result<(), Error> {
    let failed = |source| Error::write("cannot install", dir, source);
    fs_err::remove_dir_all(dir).map_err(failed)?;
    fs_err::create_dir(dir).map_err(failed)
}

/// The directories with the packages of an environment.
pub(crate) fn site_packages(root: &Path) -> Vec<PathBuf> {
    let listing = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = listing
        .filter(|item| item.file_name().to_string_lossy().starts_with("python3."))
        .map(|item| item.path().join("site-packages"))
        .filter(|dir| dir.is_dir())
        .collect();
    dirs.sort();
    dirs
}
