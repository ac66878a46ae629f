//! Which driver goes with which CANN. The driver checks CANN's device-side package only at the first AICPU initialization,
//! so a pair that is not supported compiles, allocates, opens the device, and then fails with 507018.

use std::sync::LazyLock;

use serde::Serialize;

use crate::{Machine, Target, Version};

/// From the runtime's supported environments, and from the configuration of the published images for CANN 9.2.
const TABLE: &str = include_str!("../data/supported-pairs.tsv");
/// Columns read by position; a table with others is refused.
const COLUMNS: &str = "cann\tdriver\tmachine\ttarget";
/// The oldest driver that runs PyPTO's kernels at all, with CANN of [`MINIMUM_CANN`].
pub const MINIMUM_DRIVER: &str = "25.2.0";
/// The oldest CANN that runs PyPTO's kernels at all.
pub const MINIMUM_CANN: &str = "8.5.0";

static PAIRS: LazyLock<Vec<SupportedPair>> = LazyLock::new(|| {
    parse(TABLE).unwrap_or_else(|line| panic!("the built-in table of pairs is malformed in line {line}"))
});

/// A driver and a CANN that were tested with each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SupportedPair {
    /// Public release of CANN.
    pub cann: Version,
    /// Public version of the driver.
    pub driver: Version,
    /// The host's processor; `None` where any will do.
    pub machine: Option<Machine>,
    /// What it was tested with; `None` where any NPU will do.
    pub target: Option<Target>,
}

/// What the table says of a driver and a CANN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// Tested.
    Supported(&'static SupportedPair),
    /// Tested on another processor only.
    OtherMachine(Vec<&'static SupportedPair>),
    /// This CANN wants one of these drivers.
    OtherDriver(Vec<&'static SupportedPair>),
    /// This driver wants one of these releases of CANN, and the one given is not in the table.
    OtherCann(Vec<&'static SupportedPair>),
    /// Neither is in the table.
    Unknown,
}

impl PairVerdict {
    /// Whether the pair may be used. An unknown pair may not.
    pub const fn is_supported(&self) -> bool {
        matches!(self, Self::Supported(_))
    }

    /// The pairs that would do instead.
    pub fn instead(&self) -> &[&'static SupportedPair] {
        match self {
            Self::Supported(_) | Self::Unknown => &[],
            Self::OtherMachine(pairs) | Self::OtherDriver(pairs) | Self::OtherCann(pairs) => pairs,
        }
    }
}

/// Every pair, in the table's order.
pub fn supported_pairs() -> &'static [SupportedPair] {
    &PAIRS
}

/// Whether a driver goes with a CANN on a machine. What the pair was tested with is its `target`, which the caller compares
/// with the NPU it has.
pub fn supported_pair(cann: &Version, driver: &Version, machine: Machine) -> PairVerdict {
    let of = |matches: &dyn Fn(&SupportedPair) -> bool| PAIRS.iter().filter(|pair| matches(pair)).collect::<Vec<_>>();
    let here = |pair: &SupportedPair| pair.machine.is_none_or(|wanted| wanted == machine);
    let pairs = of(&|pair| pair.cann == *cann && pair.driver == *driver);
    if let Some(pair) = pairs.iter().find(|pair| here(pair)) {
        return PairVerdict::Supported(pair);
    }
    if !pairs.is_empty() {
        return PairVerdict::OtherMachine(pairs);
    }
    let same_cann = of(&|pair| pair.cann == *cann && here(pair));
    if !same_cann.is_empty() {
        return PairVerdict::OtherDriver(same_cann);
    }
    match of(&|pair| pair.driver == *driver && here(pair)) {
        same_driver if same_driver.is_empty() => PairVerdict::Unknown,
        same_driver => PairVerdict::OtherCann(same_driver),
    }
}

/// Whether a driver is older than what runs PyPTO's kernels at all.
pub fn is_driver_below_minimum(driver: &Version) -> bool {
    Version::parse(MINIMUM_DRIVER).is_some_and(|minimum| *driver < minimum)
}

/// Whether a CANN is older than what runs PyPTO's kernels at all.
pub fn is_cann_below_minimum(cann: &Version) -> bool {
    Version::parse(MINIMUM_CANN).is_some_and(|minimum| *cann < minimum)
}

/// Reads the table, or says which line (from 1) is malformed.
fn parse(table: &str) -> Result<Vec<SupportedPair>, usize> {
    let mut lines = table.lines();
    if lines.next() != Some(COLUMNS) {
        return Err(1);
    }
    lines.enumerate().map(|(index, line)| parse_line(line).ok_or(index + 2)).collect()
}

fn parse_line(line: &str) -> Option<SupportedPair> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [cann, driver, machine, target] = cells.try_into().ok()?;
    Some(SupportedPair {
        cann: Version::parse(cann)?,
        driver: Version::parse(driver)?,
        machine: any_or(machine)?,
        target: any_or(target)?,
    })
}

/// `any`, or a name.
fn any_or<T: std::str::FromStr>(cell: &str) -> Option<Option<T>> {
    if cell == "any" { Some(None) } else { cell.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(cann: &str, driver: &str, machine: Machine) -> PairVerdict {
        supported_pair(&Version::parse(cann).unwrap(), &Version::parse(driver).unwrap(), machine)
    }

    #[test]
    fn every_line_is_read_and_a_malformed_one_is_named() {
        assert_eq!(supported_pairs().len(), TABLE.lines().count() - 1);
        assert_eq!((parse(""), parse(&format!("{COLUMNS}\n9.0.0\tnew\tany\tany"))), (Err(1), Err(2)));
    }

    #[test]
    fn tested_pairs_are_supported() {
        use Machine::{Aarch64, X86_64};
        let cases = [
            ("9.0.0", "26.0.rc1", X86_64, None),
            ("9.0.0", "26.0.RC1", Aarch64, None),
            ("9.1.T500", "25.6.rc1.b108", Aarch64, None),
            ("9.2", "26.0.rc1", Aarch64, Some(Target::A2a3)),
            ("9.2.0", "25.6.rc2.b023", Aarch64, Some(Target::A5)),
            ("9.2.0", "25.7.rc1.12", X86_64, Some(Target::A5)),
        ];
        for (cann, driver, machine, target) in cases {
            let PairVerdict::Supported(pair) = verdict(cann, driver, machine) else {
                panic!("{cann} with {driver} on {machine} is supported");
            };
            assert_eq!(pair.target, target, "{cann} {driver}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        use Machine::{Aarch64, X86_64};
        let first =
            |verdict: &PairVerdict| verdict.instead().first().map(|pair| (pair.cann.as_str(), pair.driver.as_str()));
        let case = verdict("9.2.0", "25.6.rc2.b023", X86_64);
        assert!(matches!(case, PairVerdict::OtherMachine(_)), "{case:?}");
        let case = verdict("9.2.0", "25.6.rc2.b024", X86_64);
        assert!(matches!(case, PairVerdict::OtherDriver(_)), "{case:?}");
        assert_eq!(first(&case), Some(("9.2.0", "25.7.rc1.12")));
        let case = verdict("8.5.0", "26.0.rc1", X86_64);
        assert!(matches!(case, PairVerdict::OtherCann(_)), "{case:?}");
        assert_eq!(first(&case), Some(("9.0.0", "26.0.rc1")));
        let case = verdict("9.2.1", "25.3.rc1", Aarch64);
        assert_eq!((&case, case.is_supported()), (&PairVerdict::Unknown, false));
    }

    #[test]
    fn floors() {
        let version = |text| Version::parse(text).unwrap();
        assert!(is_driver_below_minimum(&version("24.1.rc3")) && !is_driver_below_minimum(&version("25.2.0")));
        assert!(is_cann_below_minimum(&version("8.2.RC1")) && !is_cann_below_minimum(&version("8.5.0")));
    }
}
