//! What a kernel is built for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{PlatformError, Vocabulary};
use crate::{Arch, Core, OnChip, Soc, names};

/// What a kernel is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Target {
    /// Atlas A2 and A3: Ascend910B1 to B4 and Ascend910_93xx, `dav-c220`.
    A2a3,
    /// Ascend950, `dav-c310`.
    A5,
    /// The host, through PTO-ISA's CPU simulator headers.
    Cpu,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 3] = [Self::A2a3, Self::A5, Self::Cpu];

    /// The name in manifests and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A2a3 => "a2a3",
            Self::A5 => "a5",
            Self::Cpu => "cpu",
        }
    }

    /// The NPU architecture; `None` for the CPU.
    pub const fn arch(self) -> Option<Arch> {
        match self {
            Self::A2a3 => Some(Arch::DAV_2201),
            Self::A5 => Some(Arch::DAV_3510),
            Self::Cpu => None,
        }
    }

    /// The value of `--cce-aicore-arch` for one core type, for example `dav-c220-vec`; `None` for the CPU.
    pub fn compiler_arch(self, core: Core) -> Option<String> {
        self.arch().map(|arch| format!("{}{}", arch.compiler_name(), core.arch_suffix()))
    }

    /// The macro that tells PTO headers how tiles are addressed; `None` for the CPU. Without it symbols stay undefined.
    pub const fn memory_macro(self) -> Option<&'static str> {
        match self {
            Self::A2a3 => Some("MEMORY_BASE"),
            Self::A5 => Some("REGISTER_BASE"),
            Self::Cpu => None,
        }
    }

    /// The SoC that is meant when nobody names one; `None` for the CPU.
    pub fn default_soc(self) -> Option<&'static Soc> {
        let name = match self {
            Self::A2a3 => "Ascend910B2",
            Self::A5 => "Ascend950PR_9599",
            Self::Cpu => return None,
        };
        Soc::by_name(name).ok()
    }

    /// On-chip memory of one core of the default SoC; all SoCs of one target agree. `None` for the CPU.
    pub fn on_chip(self) -> Option<OnChip> {
        self.default_soc().and_then(Soc::on_chip)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Target {
    type Err = PlatformError;

    /// Accepts the target's own name, what people call the hardware (`a3`, `910b`, `950`), an architecture in any
    /// vocabulary (`dav-c220`, `dav-2201`, `2201`) and the full name of a SoC (`Ascend910B2`).
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match names::fold(given).as_str() {
            "a2a3" | "a2" | "a3" | "a2_a3" | "a2/a3" | "910b" | "910c" | "910_93" | "ascend910_93" => Ok(Self::A2a3),
            "a5" | "950" | "950pr" | "950dt" | "ascend950" | "ascend950pr" | "ascend950dt" => Ok(Self::A5),
            "cpu" => Ok(Self::Cpu),
            // The SoC `Ascend910B` is first generation, the short name `Ascend910B` is A2: guessing builds the wrong code.
            "ascend910b" => Err(PlatformError::Ambiguous { given: given.to_owned() }),
            _ => from_hardware(given),
        }
    }
}

/// The target of an architecture's or a SoC's name.
fn from_hardware(given: &str) -> Result<Target, PlatformError> {
    let arch = given.parse::<Arch>().or_else(|_| Soc::by_name(given).map(|soc| soc.arch)).map_err(|_| {
        let nearest = names::nearest(given, ["a2a3", "a5", "cpu", "910b", "950", "dav-c220", "dav-c310"]);
        Vocabulary::Target.unknown(given, nearest)
    })?;
    arch.target().ok_or_else(|| PlatformError::UnsupportedArch { given: given.to_owned(), arch: arch.compiler_name() })
}

impl TryFrom<String> for Target {
    type Error = PlatformError;

    fn try_from(given: String) -> Result<Self, Self::Error> {
        given.parse()
    }
}
