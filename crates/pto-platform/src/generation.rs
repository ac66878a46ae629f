//! Which generation a printed name means, and whether PTO kernels run there.

use std::fmt;

use serde::Serialize;

use crate::{Soc, Target};

/// A generation of NPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Generation {
    /// The first: Ascend910A, 910ProA, 910B without a digit (`dav-c100`).
    #[serde(rename = "910")]
    First,
    /// Ascend310P (`dav-m200`).
    #[serde(rename = "310P")]
    P310,
    /// Ascend310B (`dav-m300`).
    #[serde(rename = "310B")]
    B310,
    /// Ascend910B1 to B4 (`dav-c220`).
    A2,
    /// Ascend910_93xx (`dav-c220`), two dies per card.
    A3,
    /// Ascend950 (`dav-c310`).
    A5,
}

impl Generation {
    /// The generation of a SoC; `None` for chips that are no cards for servers.
    pub fn of(soc: &Soc) -> Option<Self> {
        match (soc.target(), soc.family) {
            (Some(Target::A5), _) => Some(Self::A5),
            (Some(Target::A2a3), "Ascend910_93") => Some(Self::A3),
            (Some(Target::A2a3), _) => Some(Self::A2),
            (_, "Ascend910") => Some(Self::First),
            (_, "Ascend310P") => Some(Self::P310),
            (_, "Ascend310B") => Some(Self::B310),
            _ => None,
        }
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "910 (first generation)",
            Self::P310 => "310P",
            Self::B310 => "310B",
            Self::A2 => "A2",
            Self::A3 => "A3",
            Self::A5 => "A5",
        }
    }

    /// Whether `npu-smi info -t ... -i N` takes `-c CHIP` as well; 950 refuses it, and older cards need it.
    pub const fn npu_smi_takes_chip(self) -> bool {
        !matches!(self, Self::A5)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a chip's name says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChipIdentity {
    /// The name, as given.
    pub name: String,
    /// The SoC, if the name is a full one (`910B3`, `Ascend910_9392`), by the name ACL reports.
    pub soc: Option<&'static str>,
    /// The generation, if the name decides it.
    pub generation: Option<Generation>,
    /// The target whose kernels run there.
    pub target: Option<Target>,
    /// Why there is no target, if there is none.
    pub no_target: Option<NoTarget>,
}

/// Why a chip's name gives no target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoTarget {
    /// The architecture is known, and PTO kernels are not built for it.
    #[error("{}architecture `{arch}` is not a PTO target; PTO kernels run on A2 and A3 (`dav-c220`) and A5 (`dav-c310`)", generation.map(|generation| format!("{generation}: ")).unwrap_or_default())]
    OtherArch {
        /// The compiler's name of the architecture.
        arch: &'static str,
        /// The generation.
        generation: Option<Generation>,
    },
    /// Several generations use the name: A3 prints `Ascend910`.
    #[error("`{name}` is the name of more than one generation, so it does not decide the target")]
    Undecided {
        /// The name.
        name: String,
    },
    /// The SoC table has no such chip.
    #[error("`{name}` is not a chip of the SoC table")]
    Unknown {
        /// The name.
        name: String,
    },
}

impl NoTarget {
    /// How to get further.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::OtherArch { .. } => "the `cpu` target runs on any machine, whatever NPU it has",
            Self::Undecided { .. } => {
                "`npu-smi info -t board -i N -c 0` prints the parts of the full name, and ACL reports it"
            }
            Self::Unknown { .. } => "ask ACL for the SoC's name, or name the target yourself",
        }
    }
}

/// What the name of a device says: `910B3`, `Ascend 910B3`, `Ascend910`, `Ascend950PR`, `310P3`, `Ascend950PR_9579`.
///
/// A full name decides. A family's name decides if all SoCs of that family are of one architecture and no other family has
/// the name: `Ascend950PR` does, and `Ascend910`, which A3 prints and which is the short name of the first generation, does
/// not. `910B` is a full name, of the first generation.
pub fn identify(name: &str) -> ChipIdentity {
    let full = full_name(name);
    let exact = Soc::by_name(&full).ok();
    let candidates: Vec<&Soc> = match exact {
        Some(soc) => vec![soc],
        None => Soc::all().iter().filter(|soc| is_of_family(soc, &full)).collect(),
    };
    let arch = candidates.first().map(|soc| soc.arch).filter(|&arch| candidates.iter().all(|soc| soc.arch == arch));
    let decided = candidates.first().filter(|_| arch.is_some());
    let generation = decided.and_then(|soc| Generation::of(soc));
    let target = decided.and_then(|soc| soc.target());
    let no_target = match (target, decided) {
        (Some(_), _) => None,
        (None, Some(soc)) => Some(NoTarget::OtherArch { arch: soc.compiler_arch(), generation }),
        (None, None) if candidates.is_empty() => Some(NoTarget::Unknown { name: name.trim().to_owned() }),
        (None, None) => Some(NoTarget::Undecided { name: name.trim().to_owned() }),
    };
    ChipIdentity { name: name.trim().to_owned(), soc: exact.map(|soc| soc.name), generation, target, no_target }
}

/// With the `Ascend` that `npu-smi` leaves out, and without the blank behind it.
fn full_name(name: &str) -> String {
    let joined: String = name.split_whitespace().collect();
    if joined.starts_with(|c: char| c.is_ascii_digit()) { format!("Ascend{joined}") } else { joined }
}

fn is_of_family(soc: &Soc, name: &str) -> bool {
    let member = soc.name.split_once('_').is_some_and(|(family, _)| family.eq_ignore_ascii_case(name));
    member || soc.family.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_decide_as_far_as_they_do() {
        use Generation::*;
        let cases = [
            ("910B3", Some("Ascend910B3"), Some(A2), Some(Target::A2a3)),
            ("Ascend 910B3", Some("Ascend910B3"), Some(A2), Some(Target::A2a3)),
            ("910B4-1", Some("Ascend910B4-1"), Some(A2), Some(Target::A2a3)),
            ("Ascend910_9392", Some("Ascend910_9392"), Some(A3), Some(Target::A2a3)),
            ("Ascend950PR", None, Some(A5), Some(Target::A5)),
            ("Ascend950DT", None, Some(A5), Some(Target::A5)),
            ("Ascend950PR_9579", Some("Ascend950PR_9579"), Some(A5), Some(Target::A5)),
            ("910B", Some("Ascend910B"), Some(First), None),
            ("910A", Some("Ascend910A"), Some(First), None),
            ("910ProB", Some("Ascend910ProB"), Some(First), None),
            ("310P3", Some("Ascend310P3"), Some(P310), None),
            ("Ascend910", None, None, None),
            ("xxx", None, None, None),
            ("", None, None, None),
        ];
        for (name, soc, generation, target) in cases {
            let identity = identify(name);
            assert_eq!((identity.soc, identity.generation, identity.target), (soc, generation, target), "{name}");
            assert_eq!(identity.no_target.is_some(), target.is_none(), "{name}");
        }
    }

    #[test]
    fn the_reason_is_said() {
        let reason = |name| identify(name).no_target.map(|reason| reason.to_string()).unwrap_or_default();
        assert!(reason("910B").contains("first generation") && reason("910B").contains("`dav-c100`"));
        assert!(reason("310P3").contains("310P: ") && reason("310P3").contains("not a PTO target"));
        assert!(reason("Ascend910").contains("more than one generation"));
        assert!(reason("xxx").contains("`xxx` is not a chip"));
        assert!(identify("Ascend910").no_target.unwrap().hint().contains("-t board"));
    }

    #[test]
    fn every_soc_of_the_table_is_identified_by_its_name() {
        for soc in Soc::all() {
            let identity = identify(soc.name);
            assert_eq!((identity.soc, identity.target), (Some(soc.name), soc.target()));
        }
    }

    proptest! {
        #[test]
        fn never_panics(name in "(Ascend ?)?\\PC{0,20}") {
            let identity = identify(&name);
            prop_assert_eq!(identity.target.is_none(), identity.no_target.is_some());
        }
    }
}
