//! How a source is assembled.

use std::fmt;
use std::str::FromStr;

use pto_platform::{Arch, Target};
use serde::{Deserialize, Serialize};

/// What `--pto-arch` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PtoArch {
    /// A2 and A3.
    A3,
    /// A5.
    A5,
}

/// What `--pto-level` takes: how much of the work is the assembler's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// `level1`.
    Level1,
    /// `level2`, the assembler's default.
    Level2,
    /// `level3`.
    Level3,
}

/// How a source is assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AssembleOptions {
    /// The generation.
    pub arch: PtoArch,
    /// `None` leaves it to the assembler.
    pub level: Option<Level>,
    /// Whether it inserts the flags between the pipes.
    pub insert_sync: bool,
}

impl PtoArch {
    /// For code of this target; `None` for the CPU, which plays one of them.
    pub fn of(target: Target) -> Option<Self> {
        match target.arch()? {
            Arch::DAV_2201 => Some(Self::A3),
            Arch::DAV_3510 => Some(Self::A5),
            _ => None,
        }
    }
}

impl FromStr for PtoArch {
    type Err = ();

    /// In any case, as the assembler takes it.
    fn from_str(word: &str) -> Result<Self, ()> {
        match word.to_ascii_lowercase().as_str() {
            "a3" => Ok(Self::A3),
            "a5" => Ok(Self::A5),
            _ => Err(()),
        }
    }
}

impl fmt::Display for PtoArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A3 => "a3",
            Self::A5 => "a5",
        })
    }
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Level1, Self::Level2, Self::Level3];

    /// As the assembler takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Level1 => "level1",
            Self::Level2 => "level2",
            Self::Level3 => "level3",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
