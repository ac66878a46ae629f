//! What can be wrong with a name.

use std::fmt;

use crate::{Soc, Target};

/// A name that this crate does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlatformError {
    /// The name is not in the vocabulary.
    #[error("`{given}` is not a {vocabulary}; expected {}", vocabulary.expected())]
    Unknown {
        /// What the name was taken for.
        vocabulary: Vocabulary,
        /// The name as given.
        given: String,
        /// A known name that looks like it.
        nearest: Option<String>,
    },
    /// The name is a SoC or an architecture that exists, but PTO kernels are not built for it.
    #[error("`{given}` is of architecture `{arch}`, which is neither A2/A3 (`dav-c220`) nor A5 (`dav-c310`)")]
    UnsupportedArch {
        /// The name as given.
        given: String,
        /// Its architecture in the compiler's vocabulary, for example `dav-c100`.
        arch: &'static str,
    },
    /// The vendor uses the name for two generations.
    #[error(
        "`{given}` names both a first-generation SoC (`dav-c100`) and the family of `Ascend910B1` to `Ascend910B4` (`dav-c220`)"
    )]
    Ambiguous {
        /// The name as given.
        given: String,
    },
}

impl PlatformError {
    /// What to do about it, if there is something better than the message already says.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            Self::Unknown { vocabulary: Vocabulary::Soc, .. } => {
                Some(format!("those that PTO is built for: {}", socs()))
            }
            Self::Unknown { .. } => None,
            Self::UnsupportedArch { .. } => {
                Some("the `cpu` target runs on any machine, whatever NPU it has".to_owned())
            }
            Self::Ambiguous { .. } => {
                Some("write `a2a3` for the family; the first generation is not supported".to_owned())
            }
        }
    }
}

/// The SoCs that have a target, by target.
fn socs() -> String {
    let of = |target: &Target| {
        let names: Vec<&str> =
            Soc::all().iter().filter(|soc| soc.target() == Some(*target)).map(|soc| soc.name).collect();
        format!("{target}: {}", names.join(", "))
    };
    [Target::A2a3, Target::A5].iter().map(of).collect::<Vec<_>>().join("; ")
}

/// A set of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// [`crate::Target`].
    Target,
    /// [`crate::Core`].
    Core,
    /// [`crate::Arch`].
    Arch,
    /// [`crate::Soc`].
    Soc,
    /// [`crate::Machine`].
    Machine,
}

impl Vocabulary {
    fn expected(self) -> &'static str {
        match self {
            Self::Target => "`a2a3`, `a5` or `cpu`",
            Self::Core => "`vec`, `cube` or `mix`",
            Self::Arch => "a name such as `dav-c220`, `dav-2201` or `2201`",
            Self::Soc => "a full name such as `Ascend910B2`, `Ascend910_9392` or `Ascend950PR_9599`",
            Self::Machine => "`x86_64` or `aarch64`",
        }
    }

    pub(crate) fn unknown(self, given: &str, nearest: Option<String>) -> PlatformError {
        PlatformError::Unknown { vocabulary: self, given: given.to_owned(), nearest }
    }
}

impl fmt::Display for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Target => "target",
            Self::Core => "core type",
            Self::Arch => "known NPU architecture",
            Self::Soc => "known SoC",
            Self::Machine => "host architecture that CANN is built for",
        })
    }
}
