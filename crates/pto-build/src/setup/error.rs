//! What can stop a setup, whose fault it is, and what to do about it.

use pto_context::Fault;
use std::io;
use std::path::{Path, PathBuf};

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

/// Why a home was not set up. What was usable before still is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// No checkout was named, and none is where one could be.
    #[error(
        "there is no PyPTO checkout: neither `/workspace/pypto` nor the working directory has `toolchain/versions.env`"
    )]
    NoCheckout,
    /// What was named is no checkout.
    #[error("`{}` is no complete PyPTO checkout: it has no `{missing}`", .src.display())]
    NotACheckout {
        /// The directory.
        src: PathBuf,
        /// The first file that is missing.
        missing: &'static str,
        /// Whether git can tell what became of it.
        is_repository: bool,
    },
    /// A file of the checkout cannot be understood.
    #[error("cannot read `{}`: {why}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What was expected.
        why: String,
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
    /// A child could not be run.
    #[error(transparent)]
    Process(#[from] pto_process::Error),
    /// A pin of the checkout cannot be read.
    #[error(transparent)]
    Checkout(#[from] pto_checkout::Error),
    /// A directory cannot be written, is full, or the user asked for the end.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// A deadline that is no number.
    #[error(transparent)]
    Seconds(#[from] pto_context::BadSeconds),
}

impl SetupError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoCheckout => "name it with `--pypto-src DIR` or `PYPTO_SRC`".to_owned(),
            Self::NotACheckout { is_repository: false, .. } => {
                "name a checkout of PyPTO: `--pypto-src DIR`, or `export PYPTO_SRC=/path/to/pypto`".to_owned()
            }
            Self::NotACheckout { src, .. } => {
                format!("see what is missing: git -C {} status", pto_process::shell_word(&src.display().to_string()))
            }
            Self::Malformed { file, .. } => {
                let dir = file.parent().unwrap_or(Path::new(".")).display().to_string();
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                format!("see what was changed in it: git -C {} diff {name}", pto_process::shell_word(&dir))
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
                format!("move it away: mv {0} {0}.old", pto_process::shell_word(&venv.display().to_string()))
            }
            Self::Process(error) => return error.hint(),
            Self::Checkout(error) => return error.hint(),
            Self::Store(pto_store::Error::NotWritable { .. }) => {
                "run it as the owner of that directory, or choose another home: `--pypto-home DIR`".to_owned()
            }
            Self::Store(pto_store::Error::NoSpace { .. }) => {
                "free some space and run it again, or choose another disk with `--pypto-home DIR`".to_owned()
            }
            Self::Store(error) => return error.hint(),
            Self::Seconds(_) => return None,
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Uv(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Process(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Store(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Uv(pto_fetch::Error::NoRelease { .. }) => Fault::Input,
            Self::NoCheckout
            | Self::NotACheckout { .. }
            | Self::Malformed { .. }
            | Self::BadTag { .. }
            | Self::Foreign { .. }
            | Self::NoEnvironment { .. }
            | Self::Checkout(_)
            | Self::Seconds(_) => Fault::Input,
            _ => Fault::Machine,
        }
    }

    pub(crate) fn write(action: &'static str, under: &Path, source: io::Error) -> Self {
        pto_store::Error::place(action, under, source).into()
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
