//! The host's processor, as CANN's directories name it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{PlatformError, Vocabulary};
use crate::names;

/// A host processor that CANN is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Machine {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Machine {
    /// Every machine.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// The machine this code was compiled for, if CANN is built for it.
    pub fn current() -> Option<Self> {
        std::env::consts::ARCH.parse().ok()
    }

    /// The name `uname -m` prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Directories of a CANN installation that hold this machine's files, the usual one first: some releases write
    /// `arm64-linux` where others write `aarch64-linux`.
    pub const fn cann_dirs(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["x86_64-linux"],
            Self::Aarch64 => &["aarch64-linux", "arm64-linux"],
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Machine {
    type Err = PlatformError;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match names::fold(given).as_str() {
            "x86_64" | "amd64" | "x64" => Ok(Self::X86_64),
            "aarch64" | "arm64" => Ok(Self::Aarch64),
            _ => Err(Vocabulary::Machine.unknown(given, names::nearest(given, ["x86_64", "aarch64", "arm64"]))),
        }
    }
}

impl TryFrom<String> for Machine {
    type Error = PlatformError;

    fn try_from(given: String) -> Result<Self, Self::Error> {
        given.parse()
    }
}
