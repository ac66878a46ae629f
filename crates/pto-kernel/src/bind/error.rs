//! Why there is no binding.

use std::io;
use std::path::PathBuf;

use pto_context::is_disk_full;
use pto_golden::DType;

/// Why a package was not written or not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// A tensor of a type that neither NumPy nor torch has.
    #[error("`{arg}` is {dtype}, which NumPy and torch have no type for")]
    NoType {
        /// The argument.
        arg: String,
        /// Its type.
        dtype: DType,
    },
    /// A file cannot be read or written.
    #[error("cannot write the package")]
    Io(#[from] io::Error),
    /// The place of the package is taken by something that is no directory.
    #[error("`{}` is there and is no directory", .dir.display())]
    NotADirectory {
        /// The place.
        dir: PathBuf,
    },
    /// Python does not say what it was asked for.
    #[error("`{line}` {found}, expected a path on one line")]
    NoAnswer {
        /// The command.
        line: String,
        /// What it did instead.
        found: String,
    },
    /// A program is not there.
    #[error("cannot start `{program}`")]
    NoProgram {
        /// CMake or Python.
        program: String,
        /// Why.
        #[source]
        source: pto_process::Error,
    },
    /// Python lacks what the binding is built with.
    #[error("`{python}` has no pybind11: {said}")]
    NoPybind {
        /// The interpreter.
        python: String,
        /// Its last words.
        said: String,
    },
    /// CMake could not build it.
    #[error("`{line}` {ended}\n{said}")]
    Cmake {
        /// The command.
        line: String,
        /// How it ended.
        ended: String,
        /// Its last words.
        said: String,
    },
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl BindError {
    /// What to do about it, for people.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoProgram { program, .. } if program == "cmake" => Some(
                "install it, for example with `pip install cmake ninja`; `--no-build` only writes the package"
                    .to_owned(),
            ),
            Self::Io(error) if is_disk_full(error) => Some("free some space and run again".to_owned()),
            Self::NotADirectory { .. } => Some("name another directory".to_owned()),
            Self::NoProgram { .. } | Self::NoAnswer { .. } => Some("name the interpreter with `--python`".to_owned()),
            Self::NoPybind { python, .. } => {
                Some(format!("`{python} -m pip install pybind11`, or name another with `--python`"))
            }
            Self::Cmake { .. } => Some("Python's headers are needed, `python3-dev` of the distribution".to_owned()),
            _ => None,
        }
    }
}
