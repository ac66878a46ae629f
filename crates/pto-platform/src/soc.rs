//! The SoC table: what the vendor's platform files say of each chip.

use std::sync::LazyLock;

use serde::Serialize;

use crate::error::{PlatformError, Vocabulary};
use crate::{Arch, Core, OnChip, Target, arch, names};

/// One line per platform file of CANN, taken from the files' own keys.
const TABLE: &str = include_str!("../data/soc-table.tsv");
/// The columns this module reads by position; a table with others is refused.
const COLUMNS: &str = "file\tSoC_version\tShort_SoC_version\tAIC_version\tCCEC_AIC_version\tCCEC_AIV_version\tNpuArch\t\
                       ai_core_cnt\tcube_core_cnt\tvector_core_cnt\tub_size\tl0_c_size\tsupport_inf_nan\tl2_size\tcube_freq";

static SOCS: LazyLock<Vec<Soc>> =
    LazyLock::new(|| parse(TABLE).unwrap_or_else(|line| panic!("the built-in SoC table is malformed in line {line}")));

/// A chip, as its platform file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Soc {
    /// `SoC_version`, which is what ACL reports: `Ascend910B2`, `Ascend910_9392`.
    pub name: &'static str,
    /// `Short_SoC_version`, the family: `Ascend910B`, `Ascend910_93`, `Ascend950`.
    pub family: &'static str,
    /// `NpuArch`.
    pub arch: Arch,
    /// AI cores, counted as the platform file counts them.
    pub ai_cores: u32,
    /// Cube cores; 0 where cube and vector are one core.
    pub cube_cores: u32,
    /// Vector cores; 0 where cube and vector are one core.
    pub vector_cores: u32,
    /// Unified Buffer of one vector core, in bytes.
    pub ub_bytes: usize,
    /// Accumulator (L0C) of one cube core, in bytes.
    pub l0c_bytes: usize,
    /// Whether arithmetic can keep Inf and NaN instead of saturating.
    pub keeps_inf_nan: bool,
    /// `l2_size`: the cache that all cores share, in bytes; 0 where the file says nothing.
    pub l2_bytes: u64,
    /// `cube_freq` in MHz; 0 where the file says nothing.
    pub cube_mhz: u32,
    /// `CCEC_AIC_version`: the compiler's name for the cube or the only core.
    ccec_aic: &'static str,
}

impl Soc {
    /// Every SoC of the table, in the table's order.
    pub fn all() -> &'static [Self] {
        &SOCS
    }

    /// The SoC of exactly this name, upper and lower case being the same.
    ///
    /// `Ascend910B` is found too: it is first generation, with no target, and not the family of `Ascend910B2`.
    ///
    /// # Errors
    /// No SoC has this name; the error carries the nearest.
    pub fn by_name(name: &str) -> Result<&'static Self, PlatformError> {
        let wanted = name.trim();
        SOCS.iter()
            .find(|soc| soc.name.eq_ignore_ascii_case(wanted))
            .ok_or_else(|| Vocabulary::Soc.unknown(name, Self::meant(wanted)))
    }

    /// The name that somebody meant who wrote this one: often the full one without its `Ascend`.
    fn meant(name: &str) -> Option<String> {
        let names = || SOCS.iter().map(|soc| soc.name);
        let short = |full: &&str| full.strip_prefix("Ascend").is_some_and(|short| short.eq_ignore_ascii_case(name));
        names().find(short).map(str::to_owned).or_else(|| names::nearest(name, names()))
    }

    /// The target whose kernels run on this SoC; `None` for generations that PTO is not built for.
    pub const fn target(&self) -> Option<Target> {
        self.arch.target()
    }

    /// The compiler's name of the architecture without a core suffix: `dav-c220`.
    pub fn compiler_arch(&self) -> &'static str {
        arch::without_core(self.ccec_aic)
    }

    /// How many cores of one type a launch can use; a mix block is one cube core with its vector cores.
    pub const fn cores(&self, core: Core) -> u32 {
        match core {
            Core::Vec => self.vector_cores,
            Core::Cube | Core::Mix => self.cube_cores,
        }
    }

    /// What all cube cores can do with f16 and bf16 at most, in operations per second, a multiplication and an addition being
    /// two: `cube_m_size`, `cube_n_size` and `cube_k_size` of the platform files are 16, so a core does 16 x 16 x 16 of both
    /// in each cycle. `None` for generations that PTO is not built for, and where the frequency is not known.
    pub fn cube_flops(&self) -> Option<f64> {
        const PER_CYCLE: f64 = 2.0 * 16.0 * 16.0 * 16.0;
        let known = self.target().is_some() && self.cube_mhz > 0;
        known.then(|| PER_CYCLE * f64::from(self.cube_cores) * f64::from(self.cube_mhz) * 1e6)
    }

    /// On-chip memory of one core; `None` for generations that PTO is not built for.
    pub fn on_chip(&self) -> Option<OnChip> {
        self.target().map(|_| OnChip {
            ub: self.ub_bytes,
            l1: OnChip::L1,
            l0a: OnChip::L0AB,
            l0b: OnChip::L0AB,
            l0c: self.l0c_bytes,
        })
    }
}

/// Reads the table, or says which line (from 1) is malformed.
fn parse(table: &'static str) -> Result<Vec<Soc>, usize> {
    let mut lines = table.lines();
    if lines.next() != Some(COLUMNS) {
        return Err(1);
    }
    lines.enumerate().map(|(index, line)| parse_line(line).ok_or(index + 2)).collect()
}

fn parse_line(line: &'static str) -> Option<Soc> {
    let cells: Vec<&'static str> = line.split('\t').collect();
    let [_, name, family, _, ccec_aic, _, npu_arch, ai, cube, vector, ub, l0c, inf_nan, l2, mhz] =
        cells.try_into().ok()?;
    Some(Soc {
        name,
        family,
        arch: Arch::of_table(npu_arch.parse().ok()?),
        ai_cores: ai.parse().ok()?,
        cube_cores: count(cube)?,
        vector_cores: count(vector)?,
        ub_bytes: ub.parse().ok()?,
        l0c_bytes: l0c.parse().ok()?,
        keeps_inf_nan: inf_nan == "1",
        l2_bytes: count(l2)?.into(),
        cube_mhz: count(mhz)?,
        ccec_aic,
    })
}

/// A count that platform files leave out where it has no meaning.
fn count(cell: &str) -> Option<u32> {
    if cell.is_empty() { Some(0) } else { cell.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(Soc::all().len(), TABLE.lines().count() - 1);
    }

    #[test]
    fn a_malformed_table_names_its_line() {
        assert_eq!(parse(""), Err(1));
        assert_eq!(parse("file\tother\n"), Err(1));
        let text = format!("{COLUMNS}\n{}\nAscendX\tAscendX\n", TABLE.lines().nth(1).unwrap());
        assert_eq!(parse(text.leak()), Err(3));
    }

    #[test]
    fn socs_of_one_target_agree_in_what_kernels_depend_on() {
        for soc in Soc::all() {
            let Some(target) = soc.target() else { continue };
            assert_eq!(soc.on_chip(), target.on_chip(), "{}", soc.name);
            assert_eq!(soc.vector_cores, 2 * soc.cube_cores, "{}", soc.name);
            assert!(soc.l2_bytes >= 16 << 20 && soc.cube_flops().is_some(), "{}", soc.name);
        }
    }

    #[test]
    fn the_cube_of_an_ascend910b2() {
        let flops = Soc::by_name("Ascend910B2").unwrap().cube_flops().unwrap();
        assert!((flops / 1e12 - 353.9).abs() < 0.1, "{flops}");
    }
}
