//! Why a request has no plan.

use std::path::PathBuf;

use pto_platform::Target;

use crate::cann::{Tried, list};

/// A request that no command line can express, or that would build something else than it says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BishengError {
    /// bisheng does not build for this target.
    #[error("target `{target}` is not built with bisheng")]
    NotForBisheng {
        /// The target asked for.
        target: Target,
    },
    /// Nothing to compile.
    #[error("`{name}` has no sources")]
    NoSources {
        /// The kernel or program.
        name: String,
    },
    /// The name becomes part of a file name and of linker options.
    #[error(
        "`{name}` cannot name a library; expected letters, digits, `_`, `.`, `+` and `-`, the first a letter, digit or `_`"
    )]
    BadName {
        /// The name as given.
        name: String,
    },
    /// The preprocessor would not take the definition.
    #[error("`{name}` is not the name of a macro")]
    BadDefine {
        /// The name as given.
        name: String,
    },
    /// The definitions carry the other generation's memory macro.
    #[error("`{found}` is defined for target `{target}`, which is built with `{expected}`")]
    WrongMemoryMacro {
        /// The macro in the user's definitions or flags.
        found: &'static str,
        /// The macro this target is built with.
        expected: &'static str,
        /// The target asked for.
        target: Target,
    },
    /// A path or flag with a byte that a command line or a printed plan cannot carry.
    #[error("{what} `{text}` {problem}")]
    Unusable {
        /// What it is, for example `the path`.
        what: &'static str,
        /// The text, unprintable bytes replaced.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A library search path is a list separated by colons.
    #[error("the directory `{}` has a colon in its name, which separates directories in a library search path", dir.display())]
    ColonInDir {
        /// The directory.
        dir: PathBuf,
    },
    /// A program linked to the CA model exists for A5 alone.
    #[error("a program linked to the CA model is built for `a5` only, not for `{target}`")]
    NoLinkedModel {
        /// The target asked for.
        target: Target,
    },
    /// CANN has no simulator for the SoC, or keeps it in a place that is not known.
    #[error("no simulator for `{soc}` in this CANN; tried {}", list(tried))]
    NoSimulator {
        /// The SoC asked for.
        soc: &'static str,
        /// In the order in which they were tried.
        tried: Vec<Tried>,
    },
}

impl BishengError {
    /// What to do about it, if there is something better than the message already says.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::WrongMemoryMacro { .. } => Some("leave the macro out: every plan passes the right one, once"),
            Self::NoSimulator { .. } => {
                Some("the simulator comes with the CANN toolkit package; check the SoC's full name")
            }
            Self::NoLinkedModel { .. } => Some("run the kernel under `msprof op simulator` instead"),
            Self::ColonInDir { .. } | Self::Unusable { .. } => Some("use another directory or name"),
            Self::BadDefine { .. } => Some("give name and value apart: `TILE` and `16384`, not `TILE=16384`"),
            Self::NotForBisheng { .. } | Self::NoSources { .. } | Self::BadName { .. } => None,
        }
    }
}
