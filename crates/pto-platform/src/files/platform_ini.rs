//! CANN's platform files: `platform_config/Ascend910B1.ini` and its siblings.

use serde::Serialize;

use crate::entries::numbered;
use crate::{Note, Soc};

/// A platform file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlatformIni {
    /// Its sections, in order. Two sections of one name stay two.
    pub sections: Vec<IniSection>,
    /// What was not understood, or is odd.
    pub notes: Vec<Note>,
}

/// A section of a platform file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IniSection {
    /// The name between the brackets.
    pub name: String,
    /// Keys and values, in order; a value may be empty.
    pub entries: Vec<(String, String)>,
}

/// A value in which a platform file and the SoC table differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The key in the file.
    pub key: &'static str,
    /// What the file says; `None` where it says nothing.
    pub file: Option<String>,
    /// What the table says.
    pub table: String,
}

/// Reads a platform file.
pub fn parse_platform_ini(text: &str) -> PlatformIni {
    let mut ini = PlatformIni::default();
    for (line, text) in numbered(text) {
        let content = text.trim();
        if !content.is_empty() && !content.starts_with(['#', ';']) {
            ini.line(line, content);
        }
    }
    if ini.sections.is_empty() {
        ini.notes.push(Note::whole("no section such as `[version]`"));
    }
    ini
}

impl PlatformIni {
    fn line(&mut self, line: usize, content: &str) {
        let section = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = section {
            return self.sections.push(IniSection { name: name.trim().to_owned(), entries: Vec::new() });
        }
        match (content.split_once('='), self.sections.last_mut()) {
            (Some((key, value)), Some(section)) => {
                section.entries.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            (Some(_), None) => self.notes.push(Note::new(line, content, "before the first section")),
            (None, _) => self.notes.push(Note::new(line, content, "not of the form `key=value`")),
        }
    }

    /// The first value of a key in a section, unless it is empty.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        let entries = self.sections.iter().filter(|known| known.name == section).flat_map(|section| &section.entries);
        entries
            .into_iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
            .filter(|text| !text.is_empty())
    }

    /// A value as a number.
    pub fn number(&self, section: &str, key: &str) -> Option<u64> {
        self.get(section, key)?.parse().ok()
    }

    /// `SoC_version`: what ACL reports, `Ascend910_9392`.
    pub fn soc_version(&self) -> Option<&str> {
        self.get("version", "SoC_version")
    }

    /// `Short_SoC_version`: the family, `Ascend910_93`.
    pub fn short_soc_version(&self) -> Option<&str> {
        self.get("version", "Short_SoC_version")
    }

    /// `NpuArch`: 2201 for A2 and A3, 3510 for A5.
    pub fn npu_arch(&self) -> Option<u64> {
        self.number("version", "NpuArch")
    }

    /// `ai_core_cnt`.
    pub fn ai_cores(&self) -> Option<u64> {
        self.number("SoCInfo", "ai_core_cnt")
    }

    /// `cube_core_cnt`; `None` where cube and vector are one core.
    pub fn cube_cores(&self) -> Option<u64> {
        self.number("SoCInfo", "cube_core_cnt")
    }

    /// `vector_core_cnt`.
    pub fn vector_cores(&self) -> Option<u64> {
        self.number("SoCInfo", "vector_core_cnt")
    }

    /// `memory_size`: HBM in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.number("SoCInfo", "memory_size")
    }

    /// `l2_size` in bytes.
    pub fn l2_bytes(&self) -> Option<u64> {
        self.number("SoCInfo", "l2_size")
    }

    /// `cube_freq` in MHz.
    pub fn cube_mhz(&self) -> Option<u64> {
        self.number("AICoreSpec", "cube_freq")
    }

    /// `ub_size`: Unified Buffer of one vector core in bytes.
    pub fn ub_bytes(&self) -> Option<u64> {
        self.number("AICoreSpec", "ub_size")
    }

    /// `l1_size` in bytes.
    pub fn l1_bytes(&self) -> Option<u64> {
        self.number("AICoreSpec", "l1_size")
    }

    /// `l0_c_size`: accumulator of one cube core in bytes.
    pub fn l0c_bytes(&self) -> Option<u64> {
        self.number("AICoreSpec", "l0_c_size")
    }

    /// Where the file and the SoC table differ: nowhere, if the table is right and the file is CANN's.
    ///
    /// # Errors
    /// The table has no SoC of the file's `SoC_version`; a file without one counts as having an empty name.
    pub fn compare_with_table(&self) -> Result<Vec<Difference>, crate::PlatformError> {
        let soc = Soc::by_name(self.soc_version().unwrap_or_default())?;
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let text = |value: Option<&str>| value.map(str::to_owned);
        // The table has 0 where the file leaves a count out.
        let count = |value: u32| Some(value).filter(|&value| value > 0).map(u64::from);
        let inf_nan = u64::from(soc.keeps_inf_nan);
        let pairs = [
            ("Short_SoC_version", text(self.short_soc_version()), Some(soc.family.to_owned())),
            ("NpuArch", number(self.npu_arch()), number(Some(soc.arch.number().into()))),
            ("ai_core_cnt", number(self.ai_cores()), number(count(soc.ai_cores))),
            ("cube_core_cnt", number(self.cube_cores().filter(|&n| n > 0)), number(count(soc.cube_cores))),
            ("vector_core_cnt", number(self.vector_cores().filter(|&n| n > 0)), number(count(soc.vector_cores))),
            ("ub_size", number(self.ub_bytes()), number(Some(soc.ub_bytes as u64))),
            ("l0_c_size", number(self.l0c_bytes()), number(Some(soc.l0c_bytes as u64))),
            (
                "support_inf_nan",
                number(Some(self.number("SoCInfo", "support_inf_nan").unwrap_or(0))),
                number(Some(inf_nan)),
            ),
        ];
        let differs = pairs.into_iter().filter(|(_, file, table)| file != table);
        Ok(differs.map(|(key, file, table)| Difference { key, file, table: table.unwrap_or_default() }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_lines_cost_themselves_alone() {
        let ini =
            parse_platform_ini("a=1\n[version]\nSoC_version=AscendX\n???\nEmpty=\n \n[SoCInfo]\nai_core_cnt=many\n");
        assert_eq!((ini.soc_version(), ini.get("version", "Empty"), ini.ai_cores()), (Some("AscendX"), None, None));
        assert_eq!(ini.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [1, 4]);
        assert!(ini.compare_with_table().is_err());
    }

    #[test]
    fn a_file_that_differs_from_the_table_is_found_out() {
        let text = "[version]\nSoC_version=Ascend910B2\nShort_SoC_version=Ascend910B\nNpuArch=2201\n[SoCInfo]\n\
                    ai_core_cnt=24\ncube_core_cnt=24\nvector_core_cnt=48\nsupport_inf_nan=1\n\
                    [AICoreSpec]\nub_size=1024\nl0_c_size=131072\n";
        let differences = parse_platform_ini(text).compare_with_table().unwrap();
        let expected = Difference { key: "ub_size", file: Some("1024".into()), table: "196608".into() };
        assert_eq!(differences, [expected]);
    }
}
