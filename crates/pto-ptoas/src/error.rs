//! What can stop an installation, whose fault it is, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use pto_context::Fault;

use crate::python::Unfit;

/// How many missing libraries are named; the assembler can lack hundreds.
const SHOWN_LIBRARIES: usize = 5;

/// One way to make the environment that was tried and failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The command, secrets masked.
    pub line: String,
    /// How it ended, for example ``` `uv` exited with code 1 ```.
    pub ended: String,
    /// Its last lines, secrets masked.
    pub last_words: String,
}

/// Why PTOAS was not installed. Whatever it is, the previous installation is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No `versions.env` where one could be.
    #[error("there is no checkout that pins PTOAS: no {}", paths(.tried))]
    NoPins {
        /// Every file that was looked for.
        tried: Vec<PathBuf>,
    },
    /// A `versions.env` without what is needed of it.
    #[error("`{}` pins no `{key}`{}", .file.display(), note_text(.note))]
    NoPin {
        /// The file.
        file: PathBuf,
        /// The key that is missing or not understood.
        key: String,
        /// The first thing in it that was not understood.
        note: Option<String>,
    },
    /// PTOAS is not built for this processor.
    #[error("PTOAS exists for `x86_64` and `aarch64`, this machine is `{found}`")]
    Machine {
        /// The processor.
        found: String,
    },
    /// The file that was given is no wheel of PTOAS.
    #[error("`{file}` is no wheel of PTOAS: {why}")]
    NotAWheel {
        /// Its name.
        file: String,
        /// What was expected.
        why: String,
    },
    /// No interpreter that the wheel's Python tag allows.
    #[error("`{wheel}` needs {wanted}, which is not here{}", unfit_text(.unfit))]
    NoPython {
        /// The wheel.
        wheel: String,
        /// For people: `CPython 3.10`.
        wanted: String,
        /// The only version that fits, if only one does.
        exact: Option<(u32, u32)>,
        /// What was found instead.
        unfit: Vec<Unfit>,
    },
    /// The wheel's platform tag is for another machine.
    #[error("`{wheel}` is for `{wanted}`, and this Python is for `{found}`")]
    Platform {
        /// The wheel.
        wheel: String,
        /// Its platform tags.
        wanted: String,
        /// The interpreter's platform.
        found: String,
    },
    /// The wheel's platform tag asks for another C library.
    #[error("`{wheel}` needs {wanted}, and this system has {found}")]
    Libc {
        /// The wheel.
        wheel: String,
        /// `glibc 2.34`.
        wanted: String,
        /// `glibc 2.28`, `musl`.
        found: String,
    },
    /// The C++ library is too old.
    #[error("PTOAS needs `{needed}`, and `{}` ends at `{found}`", .library.display())]
    Symbols {
        /// The library that the loader would take.
        library: PathBuf,
        /// The symbol version that is needed.
        needed: String,
        /// The newest one in it.
        found: String,
    },
    /// Too little room.
    #[error("`{}` has {} MB free, {} MB are needed", .path.display(), .free >> 20, .needed >> 20)]
    NoRoom {
        /// Where.
        path: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The place cannot be written.
    #[error("`{}` cannot be written", .path.display())]
    NotWritable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk is full.
    #[error("no space left under `{}`: {action}", .path.display())]
    NoSpace {
        /// What was being done.
        action: &'static str,
        /// The directory that was written to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The root holds something that is no PTOAS.
    #[error("`{}` holds {found}, so it is no PTOAS installation and is not replaced", .root.display())]
    Foreign {
        /// The root.
        root: PathBuf,
        /// What was found in it.
        found: String,
    },
    /// A mount point cannot be replaced.
    #[error("`{}` is a mount point, which cannot be replaced", .root.display())]
    MountPoint {
        /// The root.
        root: PathBuf,
    },
    /// The wheel could not be had, or is not the pinned one, or must not be unpacked.
    #[error(transparent)]
    Fetch(#[from] pto_fetch::Error),
    /// No release has a wheel of that name.
    #[error("there is no `{asset}` for PTOAS {version}; `{}` pins sha256 {sha256}", .pins.display())]
    NoAsset {
        /// The file that is missing.
        asset: String,
        /// The pinned version.
        version: String,
        /// The file with the pin.
        pins: PathBuf,
        /// The pinned sha256.
        sha256: String,
        /// Who was asked.
        source: pto_fetch::Error,
    },
    /// Neither `uv` nor `venv` with `pip` could make the environment.
    #[error("cannot make an environment with `{}`{}", .python.display(), attempts_text(.attempts))]
    Environment {
        /// The interpreter it is for.
        python: PathBuf,
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// The wheel has no assembler in it.
    #[error("`{wheel}` installs, but brings no `ptoas`, `ptoas.sh` or `bin/ptoas` that can be executed")]
    NoLauncher {
        /// The wheel.
        wheel: String,
    },
    /// CANN's `set_env.sh` cannot be used.
    #[error("`{}` {why}", .script.display())]
    SetEnv {
        /// The script.
        script: PathBuf,
        /// What it did.
        why: String,
    },
    /// The assembler does not start.
    #[error("`{wheel}` installs, but its `ptoas` does not start{}", start_text(.missing, .ended, .last_words))]
    DoesNotStart {
        /// The wheel.
        wheel: String,
        /// How it ended.
        ended: String,
        /// Its last lines.
        last_words: String,
        /// The libraries it lacks.
        missing: Vec<String>,
    },
    /// The assembler says another version than the pinned one.
    #[error("`{wheel}` brings PTOAS {found}, the checkout pins {expected}")]
    OtherVersion {
        /// The wheel.
        wheel: String,
        /// The pinned version.
        expected: String,
        /// What it says.
        found: String,
    },
    /// An operation of the system failed; the source names the path.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoPins { .. } => "name the checkout with `--checkout DIR` or `PYPTO_SRC`, or the file with \
                                    `--versions-env FILE`"
                .to_owned(),
            Self::NoPin { .. } => "take the file of the checkout's own revision: `git status toolchain/`".to_owned(),
            Self::Machine { .. } => "install it on such a machine".to_owned(),
            Self::NotAWheel { .. } => "give the release's file, with the name it has there".to_owned(),
            Self::NoPython { exact, .. } => no_python_hint(*exact),
            Self::Platform { .. } => "use the wheel and the Python of this machine's own architecture".to_owned(),
            Self::Libc { .. } => "use a distribution with a new enough glibc (Ubuntu 22.04, Debian 12, openEuler 22.03), or the \
                                  development image"
                .to_owned(),
            Self::Symbols { .. } => "put a newer libstdc++ first: conda install -c conda-forge libstdcxx-ng && \
                                     export LD_LIBRARY_PATH=\"$CONDA_PREFIX/lib:$LD_LIBRARY_PATH\""
                .to_owned(),
            Self::NoRoom { .. } | Self::NoSpace { .. } => {
                "free some space and run again, or choose another disk with `PTOAS_ROOT` (and `PTOKIT_HOME` for downloads)"
                    .to_owned()
            }
            Self::NotWritable { .. } => {
                "run it as the owner of that directory, or choose another place: `PTOAS_ROOT=$HOME/ptoas`".to_owned()
            }
            Self::Foreign { .. } => "choose another directory with `PTOAS_ROOT`, or move what is there away".to_owned(),
            Self::MountPoint { .. } => "mount its parent directory instead, or choose a directory below it with `PTOAS_ROOT`".to_owned(),
            Self::Fetch(error) if error.is_other_content() => {
                "nothing was changed; see whether version and sha256 in `versions.env` are of one release, and ask another place \
                 with `--base-url`, `--index` or `--wheel`"
                    .to_owned()
            }
            Self::Fetch(error) => return error.hint(),
            Self::NoAsset { .. } => {
                "see whether that release exists and has a wheel for this machine; old releases have other files. Another place \
                 is asked with `--base-url`, `--index` or `--wheel`"
                    .to_owned()
            }
            Self::Environment { attempts, .. } if attempts.is_empty() => {
                "install `uv`, or the `venv` module of that Python (`apt install python3.10-venv`)".to_owned()
            }
            Self::Environment { attempts, .. } => format!("to see it by yourself: {}", attempts.last()?.line),
            Self::SetEnv { .. } => "name another CANN with `--cann DIR`, or leave it out; to see what it does: bash -xc '. set_env.sh'".to_owned(),
            Self::DoesNotStart { missing, .. } if !missing.is_empty() => {
                "what was installed before is untouched; install the libraries or put their directory into \
                 `LD_LIBRARY_PATH`, or pin a release that brings them along"
                    .to_owned()
            }
            Self::DoesNotStart { .. } | Self::NoLauncher { .. } | Self::OtherVersion { .. } => {
                "what was installed before is untouched; this wheel is not the release that the checkout means".to_owned()
            }
            Self::Io { .. } => return None,
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            _ if self.is_interrupted() => Fault::Interrupt,
            Self::NoPins { .. } | Self::NoPin { .. } | Self::NotAWheel { .. } | Self::Foreign { .. } => Fault::Input,
            Self::Fetch(error) if error.is_malformed() => Fault::Input,
            Self::Fetch(error) if error.is_other_content() => Fault::Verdict,
            Self::NoLauncher { .. } | Self::OtherVersion { .. } | Self::NoAsset { .. } => Fault::Verdict,
            _ => Fault::Machine,
        }
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Fetch(error) if error.is_interrupted())
    }

    pub(crate) fn interrupted() -> Self {
        pto_store::Error::Interrupted.into()
    }

    pub(crate) fn io(action: &'static str, source: io::Error) -> Self {
        Self::Io { action, source }
    }

    /// An error of writing under a directory: tells a full disk and missing permission from the rest.
    pub(crate) fn write(action: &'static str, under: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let path = under.to_path_buf();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::NoSpace { action, path, source },
            PermissionDenied | ReadOnlyFilesystem => Self::NotWritable { path, source },
            _ => Self::Io { action, source },
        }
    }
}

impl Error {
    /// An error of the place where installations replace each other.
    pub(crate) fn of_slot(error: pto_store::Error) -> Self {
        match error {
            pto_store::Error::MountPoint { path } => Self::MountPoint { root: path },
            pto_store::Error::NotWritable { path, source } => Self::NotWritable { path, source },
            pto_store::Error::NoSpace { path, source } => {
                Self::NoSpace { action: "cannot write beside the installation", path, source }
            }
            other => other.into(),
        }
    }
}

impl From<pto_store::Error> for Error {
    fn from(error: pto_store::Error) -> Self {
        Self::Fetch(error.into())
    }
}

fn no_python_hint(exact: Option<(u32, u32)>) -> String {
    match exact {
        Some((major, minor)) => format!(
            "get one with `uv python install {major}.{minor}`, or name it with `--python FILE`; the development image has it"
        ),
        None => "install Python 3, or name it with `--python FILE`".to_owned(),
    }
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

fn note_text(note: &Option<String>) -> String {
    note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default()
}

fn unfit_text(unfit: &[Unfit]) -> String {
    let list: Vec<_> = unfit.iter().map(|one| format!("`{}` ({})", one.path.display(), one.why)).collect();
    if list.is_empty() { String::new() } else { format!("; found {}", list.join(", ")) }
}

fn attempts_text(attempts: &[Attempt]) -> String {
    if attempts.is_empty() {
        return ": there is neither `uv` nor `venv`".to_owned();
    }
    attempts.iter().map(|attempt| format!("\n{}:\n{}", attempt.ended, attempt.last_words)).collect()
}

fn start_text(missing: &[String], ended: &str, last_words: &str) -> String {
    if missing.is_empty() {
        return format!(": it {ended}\n{last_words}");
    }
    let shown: Vec<_> = missing.iter().take(SHOWN_LIBRARIES).map(|name| format!("`{name}`")).collect();
    let more = missing.len().saturating_sub(SHOWN_LIBRARIES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(": libraries are missing: {}{more}", shown.join(", "))
}
