//! The Python environment of a home: is it one that PyPTO can be built in, and how it becomes one.

mod interpreter;

use std::path::{Path, PathBuf};

use pto_checkout::Owner;
use pto_context::Context;
use pto_process::Invocation;

pub use interpreter::{PythonFacts, Unfit};

use crate::error::{Attempt, Error, HomeError};
use crate::home::Home;
use crate::setup::step;

/// What an environment has at its top. A directory with anything else is somebody's own.
const KNOWN: [&str; 11] = [
    "bin",
    "lib",
    "lib64",
    "include",
    "share",
    "etc",
    "pyvenv.cfg",
    "CACHEDIR.TAG",
    ".gitignore",
    ".lock",
    crate::setup::receipt::FILE,
];

/// What every environment has. Directories such as `bin` and `share` are in many places that are none.
const MARK: &str = "pyvenv.cfg";

/// A version of Python, `3.10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonVersion {
    /// 3.
    pub major: u32,
    /// 10.
    pub minor: u32,
}

impl std::fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl serde::Serialize for PythonVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How an environment stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It can be built in.
    Complete(PythonFacts),
    /// There is none.
    Absent,
    /// There is one that will not do.
    Unfit {
        /// Why.
        why: String,
    },
}

/// Examines the environment at a directory: it needs `pyvenv.cfg`, `bin/activate`, and an interpreter that answers, is
/// CPython of this version and has headers and a library that both we and the builder can read.
///
/// # Errors
/// The user asked for the end.
pub fn examine(cx: &Context, venv: &Path, wanted: PythonVersion, builder: Option<Owner>) -> Result<Standing, Error> {
    if venv.symlink_metadata().is_err() {
        return Ok(Standing::Absent);
    }
    let unfit = |why: String| Ok(Standing::Unfit { why });
    for file in ["pyvenv.cfg", "bin/activate"] {
        if !venv.join(file).is_file() {
            return unfit(format!("it has no `{file}`"));
        }
    }
    let python = venv.join("bin/python");
    match interpreter::ask(cx, &python)? {
        Err(why) => unfit(format!("its interpreter does not answer: {why}")),
        Ok(facts) => Ok(match facts.lacks(wanted).or_else(|| facts.is_closed_to(&python, builder)) {
            Some(why) => Standing::Unfit { why },
            None => Standing::Complete(facts),
        }),
    }
}

/// Refuses a place that holds somebody's files: it would be moved away and deleted.
pub(crate) fn check_ours(venv: &Path) -> Result<(), Error> {
    let is_dir = venv.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let foreign = |found: String| Err(HomeError::Foreign { venv: venv.to_path_buf(), found }.into());
    if !is_dir {
        // The target of a link is left alone.
        let is_file = venv.symlink_metadata().is_ok_and(|meta| meta.is_file());
        return if is_file { foreign("a file".to_owned()) } else { Ok(()) };
    }
    let listing = fs_err::read_dir(venv).map_err(Error::in_home("cannot look at it", venv))?;
    let names: Vec<String> = listing.flatten().map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    let is_environment = names.iter().any(|name| name == MARK);
    match names.into_iter().find(|name| !is_environment || !KNOWN.contains(&name.as_str())) {
        Some(found) if is_environment => foreign(found),
        Some(found) => Err(HomeError::NoEnvironment { venv: venv.to_path_buf(), found, lacks: MARK }.into()),
        None => Ok(()),
    }
}

/// The interpreter to make an environment with: one that is here, complete, and can be reached by the builder. `Err` holds
/// those that will not do.
pub(crate) fn find_python(
    cx: &Context,
    home: &Home,
    wanted: PythonVersion,
    builder: Option<Owner>,
) -> Result<Result<(PathBuf, PythonFacts), Vec<Unfit>>, Error> {
    let version = Some((wanted.major, wanted.minor));
    let own = cx.clone().with_var("UV_PYTHON_INSTALL_DIR", home.pythons());
    let mut candidates = pto_fetch::interpreters(&own, version);
    candidates.extend(pto_fetch::interpreters(cx, version));
    // The environment that is about to be replaced cannot be what the next one is made with.
    let venv = home.venv();
    candidates.retain(|path| !path.starts_with(&venv));
    let mut unfit: Vec<Unfit> = Vec::new();
    for path in candidates {
        if unfit.iter().any(|one| one.path == path) {
            continue;
        }
        let why = match interpreter::ask(cx, &path)? {
            Err(why) => why,
            Ok(facts) => {
                let real = facts.executable_or(&path);
                match facts.lacks(wanted).or_else(|| facts.is_closed_to(&real, builder)) {
                    None => return Ok(Ok((real, facts))),
                    Some(why) => why,
                }
            }
        };
        unfit.push(Unfit { path, why });
    }
    Ok(Err(unfit))
}

/// Has `uv` install a Python for this home, where every builder can reach it.
pub(crate) fn install_python(cx: &Context, home: &Home, wanted: PythonVersion) -> Result<Result<(), Attempt>, Error> {
    let command = Invocation::new(home.uv())
        .args(["python", "install", "--no-bin", "--no-progress", "--install-dir"])
        .arg(home.pythons())
        .arg(wanted.to_string())
        .env("NO_COLOR", "1");
    Ok(step::attempt(cx, "install a Python", command, home.root())?.map(drop))
}

/// Makes an empty environment in an empty directory.
pub(crate) fn make(cx: &Context, home: &Home, python: &Path, dir: &Path) -> Result<(), Error> {
    let command = Invocation::new(home.uv())
        .args(["venv", "--no-project", "--allow-existing", "--no-progress", "--prompt", "pypto", "--python"])
        .arg(python)
        .arg(dir)
        .env("UV_PYTHON_DOWNLOADS", "never")
        .env("NO_COLOR", "1");
    step::run(cx, "make the environment", command, dir).map(drop)
}
