//! Whether an installed PTOAS works: it is started, and says its version.

use std::path::Path;
use std::time::Duration;

use pto_context::Context;
use pto_platform::Version;
use pto_process::{Invocation, Output, Status};

use crate::error::Error;
use crate::isolated::isolated;
use crate::launcher::{Launcher, version_in};

/// How long `ptoas --version` may take: 20 MB are read from a disk that may be cold or far away.
const ANSWER: Duration = Duration::from_secs(60);

/// What the loader says after the name of a library that it does not find.
const NOT_FOUND: &str = "=> not found";

/// How many of a program's last lines are shown.
const LAST_WORDS: usize = 6;

/// A launcher that did not say its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Silent {
    /// How it ended, for example `exited with code 127`.
    pub(crate) ended: String,
    /// Its last lines.
    pub(crate) last_words: String,
    /// The libraries that it lacks, if that is the reason.
    pub(crate) missing: Vec<String>,
}

/// Asks a launcher for its version, without the caller's Python: CANN brings a Python package of the same name, which
/// would be imported in place of the installed one.
///
/// # Errors
/// An interrupt. A launcher that fails is `Ok(Err(_))`: that is what was asked.
pub(crate) fn version(cx: &Context, launcher: &Launcher) -> Result<Result<Version, Silent>, Error> {
    let cwd = launcher.path.parent().unwrap_or(Path::new("/"));
    let question = isolated(cx, Invocation::new(&launcher.path).arg("--version")).cwd(cwd).deadline(ANSWER);
    let output = match question.run(cx) {
        Ok(output) if output.status == Status::Interrupted => return Err(Error::interrupted()),
        Ok(output) => output,
        Err(error) if error.is_interrupted() => return Err(Error::interrupted()),
        Err(error) => {
            let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            return Ok(Err(Silent { ended: error.to_string(), last_words: why, missing: Vec::new() }));
        }
    };
    match version_in(&output.stdout.text()).filter(|_| output.success()) {
        Some(version) => Ok(Ok(version)),
        None => Ok(Err(Silent {
            missing: missing_libraries(cx, launcher, &output)?,
            ended: output.status.to_string(),
            last_words: output.last_words(LAST_WORDS),
        })),
    }
}

/// The libraries that are missing. The loader itself stops at the first one, so it is asked for all of them.
fn missing_libraries(cx: &Context, launcher: &Launcher, output: &Output) -> Result<Vec<String>, Error> {
    let words = output.stderr.masked();
    let Some(first) = named_library(&words) else { return Ok(Vec::new()) };
    let listing = isolated(cx, Invocation::new(&launcher.path)).env("LD_TRACE_LOADED_OBJECTS", "1").deadline(ANSWER);
    let is_elf = fs_err::read(&launcher.path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"));
    // A script would print its interpreter's libraries, or run.
    let listed = if is_elf { listing.run(cx).ok() } else { None };
    let text = listed.map(|listed| listed.stdout.text().into_owned()).unwrap_or_default();
    let mut missing = vec![first.to_owned()];
    for name in text.lines().filter_map(|line| line.trim().strip_suffix(NOT_FOUND)).map(str::trim) {
        if !missing.iter().any(|known| known == name) {
            missing.push(name.to_owned());
        }
    }
    Ok(missing)
}

/// The library in the loader's complaint: `error while loading shared libraries: libX.so.1: cannot open ...`, or, of a
/// Python extension, `ImportError: libX.so.1: cannot open ...`.
fn named_library(words: &str) -> Option<&str> {
    let line = words.lines().find(|line| line.contains("cannot open shared object file"))?;
    let before = line.split(": cannot open shared object file").next()?;
    before.rsplit(": ").next().map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_in_the_complaint_is_found() {
        let loader = "bin/ptoas: error while loading shared libraries: libMLIR.so.19: cannot open shared object file: \
                      No such file or directory";
        assert_eq!(named_library(loader), Some("libMLIR.so.19"));
        let python = "Traceback:\nImportError: libA.so: cannot open shared object file: No such file or directory\n";
        assert_eq!(named_library(python), Some("libA.so"));
        assert_eq!(named_library("version `GLIBCXX_3.4.30' not found"), None);
    }
}
