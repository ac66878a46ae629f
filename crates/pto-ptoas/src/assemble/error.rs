//! What can go wrong between a `.pto` source and its C++.

use std::io;
use std::path::PathBuf;

use pto_context::BadSeconds;

use super::Assembler;
use super::options::PtoArch;
use crate::error::Error;

/// Why a source was not assembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// A build would find none.
    #[error("no PTOAS to assemble with: {why}")]
    NoAssembler {
        /// Where was looked.
        why: String,
    },
    /// The one that a build would use does not start.
    #[error("`{}` does not work: {problem}", .path.display())]
    Broken {
        /// Its launcher.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The assembler could not be looked for.
    #[error("cannot look for a PTOAS")]
    Status(#[source] Box<Error>),
    /// The source cannot be read, or what was made of it.
    #[error("cannot read a source or what was assembled from it")]
    Read(#[source] io::Error),
    /// The source says another generation than it is built for.
    #[error("{}:{line}: `pto.target_arch` is `{declared}`, and the source is assembled for `{wanted}`", .path.display())]
    OtherArch {
        /// The source.
        path: PathBuf,
        /// The attribute's line, from 1.
        line: usize,
        /// What it says.
        declared: String,
        /// What the target needs.
        wanted: PtoArch,
    },
    /// It failed or died.
    #[error("{assembler} {ended} for `{}`\n$ {line}\n{last_words}", .source_path.display())]
    Failed {
        /// The assembler.
        assembler: Assembler,
        /// The source.
        source_path: PathBuf,
        /// How it ended: `was ended by signal 11 (SIGSEGV)`.
        ended: String,
        /// Its command line.
        line: String,
        /// Its last lines.
        last_words: String,
    },
    /// It says that all went well, and what it wrote is no C++ with a kernel in it.
    #[error("{assembler} wrote {found} for `{}`, expected C++ with a `__global__` function\n$ {line}", .source_path.display())]
    NoKernel {
        /// The assembler.
        assembler: Assembler,
        /// The source.
        source_path: PathBuf,
        /// What there is.
        found: &'static str,
        /// Its command line.
        line: String,
    },
    /// What it wrote is for another generation than was asked for.
    #[error(
        "{assembler} wrote code for A3, `pipe_barrier(PIPE_V)` in line {at}, though it was asked for `{wanted}`\n$ {line}"
    )]
    CodeOfOtherArch {
        /// The assembler.
        assembler: Assembler,
        /// The line of the generated code, from 1.
        at: usize,
        /// What was asked for.
        wanted: PtoArch,
        /// Its command line.
        line: String,
    },
    /// It cannot be run.
    #[error("cannot run the assembler")]
    Process(#[source] pto_process::Error),
    /// The deadline of the environment is none.
    #[error(transparent)]
    BadDeadline(#[from] BadSeconds),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl AssembleError {
    /// Whether the source is to blame, or the assembler with this source.
    pub fn is_the_sources(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::NoKernel { .. } | Self::CodeOfOtherArch { .. })
    }

    /// Whether what was given is malformed.
    pub fn is_the_inputs(&self) -> bool {
        matches!(self, Self::OtherArch { .. } | Self::BadDeadline(_))
    }

    /// Whether the user asked for the end.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Process(error) => error.is_interrupted(),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoAssembler { .. } => "`cargo xtask ptoas install` installs the one that a checkout of PyPTO pins",
            Self::Broken { .. } => "`cargo xtask ptoas status` tells more; `cargo xtask ptoas install` puts it right",
            Self::OtherArch { .. } => "build for the target that the attribute names, or change the attribute",
            Self::CodeOfOtherArch { .. } => {
                "its code generator took the default back end: use a newer PTOAS, or set the attribute in the source"
            }
            Self::NoKernel { found: super::OBJECT, .. } => "this release assembles to objects: use one that writes C++",
            Self::Process(error) => return error.hint(),
            _ => return None,
        };
        Some(text.to_owned())
    }
}
