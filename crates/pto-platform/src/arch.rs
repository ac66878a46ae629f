//! One architecture, three vocabularies: the compiler says `dav-c220`, CMake files say `dav-2201`, platform files say
//! `NpuArch=2201`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{PlatformError, Vocabulary};
use crate::{Core, Soc, Target, names};

/// An NPU architecture that the SoC table knows. Shown as `dav-2201`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Arch(u16);

impl Arch {
    /// A2 and A3: `dav-c220`, `dav-2201`.
    pub const DAV_2201: Self = Self(2201);
    /// A5: `dav-c310`, `dav-3510`.
    pub const DAV_3510: Self = Self(3510);

    /// The architecture with this `NpuArch` number, if a SoC of the table has it.
    pub fn from_number(number: u16) -> Option<Self> {
        Soc::all().iter().map(|soc| soc.arch).find(|arch| arch.0 == number)
    }

    /// `NpuArch` without asking whether the table knows it: the table itself is read this way.
    pub(crate) const fn of_table(number: u16) -> Self {
        Self(number)
    }

    /// The number in platform files: `NpuArch=2201`.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The compiler's name without a core suffix: `dav-c220`.
    pub fn compiler_name(self) -> &'static str {
        // Every value comes from the table or is one of the constants above, which a test finds in the table.
        Soc::all().iter().find(|soc| soc.arch == self).map_or("unknown", Soc::compiler_arch)
    }

    /// The name for people, with the target that it belongs to: `a2a3 (dav-2201)`.
    pub fn with_target(self) -> String {
        self.target().map_or_else(|| self.to_string(), |target| format!("{target} ({self})"))
    }

    /// The target that is built for this architecture, if PTO kernels are.
    pub const fn target(self) -> Option<Target> {
        match self {
            Self::DAV_2201 => Some(Target::A2a3),
            Self::DAV_3510 => Some(Target::A5),
            _ => None,
        }
    }
}

/// The name without the core suffix that compilers and platform files put behind it.
pub(crate) fn without_core(name: &str) -> &str {
    Core::ALL
        .iter()
        .map(|core| core.arch_suffix())
        .filter(|suffix| !suffix.is_empty())
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name)
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("dav-{}", self.0))
    }
}

impl FromStr for Arch {
    type Err = PlatformError;

    /// Accepts `dav-c220`, `dav-c220-vec`, `dav_c220`, `DAV_2201`, `dav-2201` and `2201`.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let folded = names::fold(given).replace('_', "-");
        let name = without_core(&folded);
        let number = name.strip_prefix("dav-").unwrap_or(name).parse().ok().and_then(Self::from_number);
        number.or_else(|| Soc::all().iter().find(|soc| soc.compiler_arch() == name).map(|soc| soc.arch)).ok_or_else(
            || {
                let nearest = names::nearest(given, ["dav-c220", "dav-c310", "dav-2201", "dav-3510"]);
                Vocabulary::Arch.unknown(given, nearest)
            },
        )
    }
}

impl TryFrom<String> for Arch {
    type Error = PlatformError;

    fn try_from(given: String) -> Result<Self, Self::Error> {
        given.parse()
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> Self {
        arch.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_vocabularies_name_one_architecture() {
        for name in ["dav-c220", "dav-c220-vec", "dav-c220-cube", "DAV_2201", "dav-2201", "2201", "dav_c220_vec"] {
            assert_eq!(name.parse(), Ok(Arch::DAV_2201), "{name}");
        }
        for name in ["dav-c310", "dav-c310-cube", "dav_3510", "3510"] {
            assert_eq!(name.parse(), Ok(Arch::DAV_3510), "{name}");
        }
        assert_eq!("dav-2002".parse::<Arch>().map(Arch::compiler_name), Ok("dav-m200"));
    }

    #[test]
    fn every_architecture_of_the_table_is_found_by_each_of_its_names() {
        for soc in Soc::all() {
            assert_eq!(soc.arch.to_string().parse(), Ok(soc.arch), "{}", soc.name);
            assert_eq!(soc.arch.compiler_name().parse(), Ok(soc.arch), "{}", soc.name);
        }
    }

    #[test]
    fn people_are_told_the_target_where_there_is_one() {
        assert_eq!(Arch::DAV_3510.with_target(), "a5 (dav-3510)");
        assert_eq!("dav-m200".parse().map(Arch::with_target), Ok("dav-2002".to_owned()));
    }

    #[test]
    fn an_unknown_number_is_refused() {
        assert!("dav-9999".parse::<Arch>().is_err());
        assert_eq!(Arch::from_number(9999), None);
    }
}
