//! What an interpreter says of itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_checkout::Owner;
use pto_context::Context;
use pto_process::{Error as ProcessError, Invocation, Status};
use serde::Deserialize;

use super::PythonVersion;
use crate::error::Error;

/// How long an interpreter may take to answer. They start in a tenth of a second; a home on a network does not.
const ANSWER: Duration = Duration::from_secs(20);

/// Asks for what decides whether an extension can be built with it.
const QUESTION: &str = r#"
import json, os, sys, sysconfig
get = sysconfig.get_config_var
libraries = [os.path.join(get(dir) or "", get(name) or "")
             for dir in ("LIBDIR", "LIBPL") for name in ("INSTSONAME", "LDLIBRARY", "LIBRARY")]
libraries = [path for path in libraries if os.path.isabs(path) and not path.endswith("/")]
print("ptokit:" + json.dumps({
    "version": sys.version_info[:2],
    "text": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "executable": os.path.realpath(sys.executable),
    "python_h": os.path.join(sysconfig.get_path("include") or "", "Python.h"),
    "pyconfig_h": sysconfig.get_config_h_filename() or "",
    "libraries": libraries,
}))
"#;

/// What an interpreter says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PythonFacts {
    /// `(3, 10)`.
    pub version: (u32, u32),
    /// `3.10.12`.
    pub text: String,
    /// `cpython`.
    pub implementation: String,
    /// The interpreter's own file, links resolved.
    pub executable: PathBuf,
    /// Where `Python.h` should be.
    pub python_h: PathBuf,
    /// Where `pyconfig.h` should be.
    pub pyconfig_h: PathBuf,
    /// Where a library could be, shared or static; one is enough.
    pub libraries: Vec<PathBuf>,
}

/// An interpreter that is not the right one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Its file.
    pub path: PathBuf,
    /// For example `CPython 3.11.7`, or how it failed.
    pub why: String,
}

impl PythonFacts {
    /// What it lacks to be built with, if anything.
    pub fn lacks(&self, wanted: PythonVersion) -> Option<String> {
        let name = if self.implementation == "cpython" { "CPython" } else { &self.implementation };
        if name != "CPython" || self.version != (wanted.major, wanted.minor) {
            return Some(format!("it is {name} {}, CPython {wanted} is needed", self.text));
        }
        for (name, file) in [("Python.h", &self.python_h), ("pyconfig.h", &self.pyconfig_h)] {
            if !is_readable(file) {
                return Some(format!("`{name}` cannot be read at `{}`", file.display()));
            }
        }
        if self.library().is_none() {
            let places: Vec<_> = self.libraries.iter().map(|path| format!("`{}`", path.display())).collect();
            return Some(format!("there is no Python library; looked for {}", places.join(", ")));
        }
        None
    }

    /// The library that there is.
    fn library(&self) -> Option<&PathBuf> {
        self.libraries.iter().find(|path| is_readable(path))
    }

    /// What of it the builder could not read, if anything.
    pub(super) fn is_closed_to(&self, python: &Path, builder: Option<Owner>) -> Option<String> {
        let builder = builder?;
        let files = [Some(python), Some(&self.python_h), Some(&self.pyconfig_h), self.library().map(PathBuf::as_path)];
        let closed = files.into_iter().flatten().find(|file| !builder.can_read(file))?;
        Some(format!("`{}` cannot be read by the checkout's owner (uid {})", closed.display(), builder.uid))
    }

    /// The interpreter behind a shim.
    pub(super) fn executable_or(&self, path: &Path) -> PathBuf {
        if self.executable.is_file() { self.executable.clone() } else { path.to_path_buf() }
    }
}

fn is_readable(file: &Path) -> bool {
    pto_context::files::open_regular(file).is_ok()
}

/// Asks one interpreter. `Ok(Err(why))` if it does not answer.
pub(super) fn ask(cx: &Context, path: &Path) -> Result<Result<PythonFacts, String>, Error> {
    // -I: nothing of the caller's; -S: no site packages, which take longer than everything else.
    let question = Invocation::new(path).args(["-I", "-S", "-B", "-c", QUESTION]).deadline(ANSWER);
    let output = match question.run(cx) {
        Ok(output) => output,
        Err(error) if error.is_interrupted() => return Err(Error::interrupted()),
        Err(ProcessError::NotFound { .. }) => return Ok(Err("it is not there".to_owned())),
        Err(error) => return Ok(Err(pto_context::with_causes(&error))),
    };
    if output.status == Status::Interrupted {
        return Err(Error::interrupted());
    }
    let text = output.stdout.text();
    let answer = text.lines().find_map(|line| serde_json::from_str(line.strip_prefix("ptokit:")?).ok());
    Ok(answer.ok_or_else(|| {
        let words = output.last_words(1);
        if words.is_empty() { output.status.to_string() } else { format!("{} (`{words}`)", output.status) }
    }))
}
