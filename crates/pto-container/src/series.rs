//! Series of chips, and the stages of an image.

use std::fmt;
use std::str::FromStr;

use pto_platform::Target;
use serde::Serialize;

/// The series of chips that a container is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Series {
    /// Ascend A2 and A3.
    A3,
    /// Ascend 950.
    A5,
}

impl Series {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::A3, Self::A5];

    /// How people and image tags name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A3 => "a3",
            Self::A5 => "a5",
        }
    }

    /// The target that kernels are built for.
    pub const fn target(self) -> Target {
        match self {
            Self::A3 => Target::A2a3,
            Self::A5 => Target::A5,
        }
    }

    /// How PyPTO names it: `PYPTO_PLATFORM`.
    pub const fn platform(self) -> &'static str {
        self.target().name()
    }

    /// The device nodes, besides the cards' own, through which cards of this series talk to each other.
    pub const fn link_devices(self) -> &'static [&'static str] {
        match self {
            Self::A3 => &[],
            Self::A5 => &["/dev/ummu", "/dev/uburma"],
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Series {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|series| series.name().eq_ignore_ascii_case(given));
        found.ok_or_else(|| "expected `a3` (for A2 and A3) or `a5`".to_owned())
    }
}

/// A stage of the image, each on top of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// CANN, Python, build tools and this program.
    Deps,
    /// Adds GCC 15, which the CPU simulators are built with.
    Sim,
    /// Adds PyPTO and pypto-lib, cloned and built.
    Dist,
}

impl Stage {
    /// All of them, the lowest first.
    pub const ALL: [Self; 3] = [Self::Deps, Self::Sim, Self::Dist];

    /// Its name in the `Dockerfile` and in image tags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deps => "deps",
            Self::Sim => "sim",
            Self::Dist => "dist",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.name() == given)
            .ok_or_else(|| "expected `deps`, `sim` or `dist`".into())
    }
}
