//! What can be missing, with every place that was tried.

use std::fmt;
use std::path::Path;

use super::{Located, Rule};

/// A part of the toolchain is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannError {
    /// Nobody named a CANN root and none is in the usual places.
    #[error("no CANN toolkit found; tried {}", list(tried))]
    NoCann {
        /// In the order in which they were tried.
        tried: Vec<Tried>,
    },
    /// Somebody named a CANN root that is not a directory.
    #[error("the CANN toolkit should be in `{}` ({}), which is not a directory", located.path.display(), located.rule)]
    NotADirectory {
        /// The place and who named it.
        located: Located,
    },
    /// CANN is there, its compiler is not.
    #[error("no `bisheng` compiler found; tried {}", list(tried))]
    NoBisheng {
        /// In the order in which they were tried.
        tried: Vec<Tried>,
    },
    /// The directory that should hold the PTO headers does not.
    #[error("no PTO headers where they should be ({rule}); tried {}", list(tried))]
    NoHeaders {
        /// In the order in which they were tried.
        tried: Vec<Tried>,
        /// Who named the directory.
        rule: Rule,
    },
}

impl CannError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoCann { .. } => {
                "install the CANN toolkit and source its `set_env.sh`, or set `ASCEND_HOME_PATH`; the `cpu` target needs none"
            }
            Self::NotADirectory { .. } => "correct the path, or unset the variable to look in the usual places",
            Self::NoBisheng { .. } => "the runtime package alone has no compiler: install the CANN toolkit package",
            Self::NoHeaders { rule: Rule::InsideCann, .. } => {
                "this CANN carries no PTO headers: set `PTO_LIB_PATH` to a PTO-ISA checkout"
            }
            Self::NoHeaders { .. } => {
                "give the directory of a PTO-ISA checkout; `pto/pto-inst.hpp` lies in it or in its `include`"
            }
        }
        .to_owned()
    }
}

/// One place that was tried, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// A path or a variable.
    pub place: String,
    /// What was wrong with it, for example `not there`.
    pub outcome: String,
}

impl Tried {
    pub(crate) fn new(place: impl Into<String>, outcome: impl Into<String>) -> Self {
        Self { place: place.into(), outcome: outcome.into() }
    }

    pub(crate) fn unset(variable: &str) -> Self {
        Self::new(variable, "not set")
    }

    pub(crate) fn absent(path: &Path) -> Self {
        Self::new(path.display().to_string(), "not there")
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.place, self.outcome)
    }
}

/// `a, b, c` for a message.
pub fn list(tried: &[Tried]) -> String {
    tried.iter().map(Tried::to_string).collect::<Vec<_>>().join(", ")
}
