//! Which cores of the NPU a kernel runs on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{PlatformError, Vocabulary};
use crate::names;

/// Which cores of the NPU a kernel runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Core {
    /// Vector cores only.
    Vec,
    /// Cube (matrix) cores only.
    Cube,
    /// Both, in one launch: each cube core works with its two vector cores.
    Mix,
}

impl Core {
    /// Every core type.
    pub const ALL: [Self; 3] = [Self::Vec, Self::Cube, Self::Mix];

    /// The name in manifests and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vec => "vec",
            Self::Cube => "cube",
            Self::Mix => "mix",
        }
    }

    /// What the compiler wants behind the architecture: `dav-c220-vec`, `dav-c220-cube`, and plain `dav-c220` for mix.
    pub const fn arch_suffix(self) -> &'static str {
        match self {
            Self::Vec => "-vec",
            Self::Cube => "-cube",
            Self::Mix => "",
        }
    }
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Core {
    type Err = PlatformError;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match names::fold(given).as_str() {
            "vec" | "vector" | "aiv" | "vectorcore" => Ok(Self::Vec),
            "cube" | "aic" | "cubecore" => Ok(Self::Cube),
            "mix" | "mixed" => Ok(Self::Mix),
            _ => {
                let nearest = names::nearest(given, ["vec", "vector", "cube", "mix"]);
                Err(Vocabulary::Core.unknown(given, nearest))
            }
        }
    }
}

impl TryFrom<String> for Core {
    type Error = PlatformError;

    fn try_from(given: String) -> Result<Self, Self::Error> {
        given.parse()
    }
}
