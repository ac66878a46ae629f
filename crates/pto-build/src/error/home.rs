//! What PyPTO's home lacks, and what stops a setup of it.

use std::io;
use std::path::{Path, PathBuf};

use pto_context::Fault;

use super::word;
use crate::venv::Unfit;

/// A command that ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The command, secrets masked.
    pub line: String,
    /// How it ended, for example ``` `uv` exited with code 1 ```.
    pub ended: String,
    /// Its last lines, secrets masked.
    pub last_words: String,
    /// Whether it says that what it asked could not be reached.
    pub unreachable: bool,
}

/// Why a home was not set up, or cannot be built with. What was usable before still is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// The environment is not there, or its Python does not say what it is.
    #[error("there is no working Python at `{}`", .python.display())]
    NoVenv {
        /// Where it was looked for.
        python: PathBuf,
    },
    /// A program that a build needs is not there.
    #[error("`{program}` is neither in `{}` nor on `PATH`", .home.display())]
    NoTool {
        /// Its name.
        program: &'static str,
        /// PyPTO's home.
        home: PathBuf,
    },
    /// The version of `uv` that was asked for cannot be one.
    #[error("`{given}` is no version of `uv`; expected `latest` or a release such as `0.9.2`")]
    BadTag {
        /// What was given.
        given: String,
    },
    /// `uv` could not be fetched.
    #[error("cannot get `uv`")]
    Uv(#[source] pto_fetch::Error),
    /// What was fetched or found is no `uv` that works here.
    #[error("`{}` is not the `uv` that was asked for: {why}", .path.display())]
    NotUv {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// No interpreter to make the environment with.
    #[error("there is no CPython {wanted} with development files{}{}", unfit_text(.unfit), attempt_text(.attempt))]
    NoPython {
        /// `3.10`.
        wanted: String,
        /// What was found instead.
        unfit: Vec<Unfit>,
        /// How `uv python install` ended.
        attempt: Option<Attempt>,
    },
    /// The environment was made, and is not what it has to be.
    #[error("the new environment is incomplete: {why}")]
    Incomplete {
        /// What is missing.
        why: String,
    },
    /// A command failed.
    #[error("cannot {what}: {}\n{}", .attempt.ended, .attempt.last_words)]
    Step {
        /// What it was for: `make the environment`.
        what: &'static str,
        /// How it ended.
        attempt: Attempt,
    },
    /// The place of the environment holds something else.
    #[error("`{}` holds `{found}`, so it is no Python environment and is not replaced", .venv.display())]
    Foreign {
        /// The place.
        venv: PathBuf,
        /// What was found in it.
        found: String,
    },
    /// The place of the environment holds a directory that is none.
    #[error("`{}` has no `{lacks}` and holds `{found}`, so it is no Python environment and is not replaced", .venv.display())]
    NoEnvironment {
        /// The place.
        venv: PathBuf,
        /// What was found in it.
        found: String,
        /// What every environment has.
        lacks: &'static str,
    },
    /// The home cannot be written, or its disk is full.
    #[error(transparent)]
    NotWritten(pto_store::Error),
}

impl HomeError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoVenv { .. } | Self::NoTool { .. } => {
                "`cargo xtask setup` provides it, in `PYPTO_HOME`; `--pypto-home DIR` names another home".to_owned()
            }
            Self::BadTag { .. } => "leave `--uv-version` and `UV_VERSION` out to take what is here".to_owned(),
            Self::Uv(error) if error.is_interrupted() => return None,
            Self::Uv(pto_fetch::Error::NoRelease { .. }) => {
                "give a release that exists with `--uv-version TAG` or `UV_VERSION`, or leave both out".to_owned()
            }
            Self::Uv(_) => {
                "give a proxy with `--proxy URL` or a mirror with `PIP_INDEX_URL`, or put a `uv` that works \
                            here on `PATH`"
                    .to_owned()
            }
            Self::NotUv { .. } => "give a release that exists for this machine with `--uv-version TAG`".to_owned(),
            Self::NoPython { wanted, attempt, .. } => no_python_hint(wanted, attempt.as_ref()),
            Self::Step { attempt, .. } if attempt.unreachable => {
                "give a proxy with `--proxy URL` or a mirror with `PIP_INDEX_URL`, and run it again".to_owned()
            }
            Self::Step { attempt, .. } => format!("to see it by yourself: {}", attempt.line),
            Self::Incomplete { .. } => "install the development files of that Python, and run it again".to_owned(),
            Self::Foreign { venv, .. } | Self::NoEnvironment { venv, .. } => {
                format!("move it away: mv {0} {0}.old", word(venv))
            }
            Self::NotWritten(pto_store::Error::NotWritable { .. }) => {
                "run it as the owner of that directory, or choose another home: `--pypto-home DIR`".to_owned()
            }
            Self::NotWritten(pto_store::Error::NoSpace { .. }) => {
                "free some space and run it again, or choose another disk with `--pypto-home DIR`".to_owned()
            }
            Self::NotWritten(error) => return error.hint(),
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::BadTag { .. }
            | Self::Uv(pto_fetch::Error::NoRelease { .. })
            | Self::Foreign { .. }
            | Self::NoEnvironment { .. } => Fault::Input,
            Self::NoVenv { .. }
            | Self::NoTool { .. }
            | Self::Uv(_)
            | Self::NotUv { .. }
            | Self::NoPython { .. }
            | Self::Incomplete { .. }
            | Self::Step { .. }
            | Self::NotWritten(_) => Fault::Machine,
        }
    }
}

impl super::Error {
    /// An error of the system while writing in PyPTO's home, which the user has chosen.
    pub(crate) fn in_home(action: &'static str, under: &Path) -> impl Fn(io::Error) -> Self {
        move |source| HomeError::NotWritten(pto_store::Error::place(action, under, source)).into()
    }
}

fn no_python_hint(wanted: &str, attempt: Option<&Attempt>) -> String {
    let reach = match attempt {
        Some(attempt) if attempt.unreachable => {
            " (`uv` could not reach its source: give a proxy with `--proxy URL`, or a mirror with \
             `UV_PYTHON_INSTALL_MIRROR`)"
        }
        _ => "",
    };
    format!("install it with its headers, as with `apt install python{wanted}-dev` or `pyenv install {wanted}`{reach}")
}

fn unfit_text(unfit: &[Unfit]) -> String {
    let list: Vec<_> = unfit.iter().map(|one| format!("`{}` ({})", one.path.display(), one.why)).collect();
    if list.is_empty() { String::new() } else { format!("; found {}", list.join(", ")) }
}

fn attempt_text(attempt: &Option<Attempt>) -> String {
    attempt.as_ref().map(|one| format!("; {}\n{}", one.ended, one.last_words)).unwrap_or_default()
}
