//! `version.info` of the driver and of the firmware.

use serde::Serialize;

use crate::entries::{Entries, Entry};
use crate::{Note, Version};

/// Keys that hold the driver's public version, best first: `Version` is the version of a component in some files, and
/// the open-source build writes it in lower case.
const VERSION_KEYS: [&str; 3] = ["package_version", "Version", "version"];

/// `driver/version.info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DriverInfo {
    /// The public version, such as `25.3.rc1`.
    pub version: Option<Version>,
    /// The key it comes from.
    pub version_key: Option<&'static str>,
    /// `Innerversion`, such as `V100R001C23SPC002B212`.
    pub inner_version: Option<String>,
    /// `ascendhal_version`.
    pub hal_version: Option<String>,
    /// `compatible_version`: internal identifiers (`V100R001C23`), which say nothing about public CANN versions.
    pub compatible_with: Vec<String>,
    /// `compatible_version_fw`: the firmware the driver works with.
    pub firmware: Option<VersionRange>,
    /// What was not understood, or is odd.
    pub notes: Vec<Note>,
}

/// `firmware/version.info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirmwareInfo {
    /// The version, in a scheme of its own: `7.7.0.1.231`.
    pub version: Option<Version>,
    /// The public version of the package, where the file has one.
    pub package_version: Option<Version>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// `[7.0.0,8.9.9]`, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionRange {
    /// The oldest.
    pub from: Version,
    /// The newest.
    pub to: Version,
}

impl VersionRange {
    /// Whether a version is in the range. Only as many parts as the newest end has are looked at: `8.9.9.1.200` is `8.9.9`.
    pub fn contains(&self, version: &Version) -> bool {
        self.from <= *version && (*version <= self.to || version.begins_with(&self.to))
    }

    fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
        Some(Self { from: Version::parse(from)?, to: Version::parse(to)? })
    }
}

/// Reads `driver/version.info`, of any age.
pub fn parse_driver_info(text: &str) -> DriverInfo {
    let mut entries = Entries::read(text);
    let mut notes = std::mem::take(&mut entries.notes);
    let found = VERSION_KEYS.iter().find_map(|&key| Some((key, version(entries.find(key)?, &mut notes)?)));
    if found.is_none() {
        notes.push(Note::whole("none of `package_version`, `Version` and `version` holds a version"));
    }
    let (version_key, version) = found.unzip();
    DriverInfo {
        version,
        version_key,
        inner_version: entries.owned("Innerversion").or_else(|| entries.owned("innerversion")),
        hal_version: entries.owned("ascendhal_version"),
        compatible_with: entries.get("compatible_version").map(bracketed).unwrap_or_default(),
        firmware: entries.find("compatible_version_fw").and_then(|entry| range(entry, &mut notes)),
        notes,
    }
}

/// Reads `firmware/version.info`.
pub fn parse_firmware_info(text: &str) -> FirmwareInfo {
    let mut entries = Entries::read(text);
    let mut notes = std::mem::take(&mut entries.notes);
    let mut of = |keys: &[&str]| keys.iter().find_map(|key| version(entries.find(key)?, &mut notes));
    let (own, package_version) = (of(&["Version", "version"]), of(&["package_version"]));
    if own.is_none() {
        notes.push(Note::whole("neither `Version` nor `version` holds a version"));
    }
    FirmwareInfo { version: own, package_version, notes }
}

fn version(entry: Entry<'_>, notes: &mut Vec<Note>) -> Option<Version> {
    let version = Version::parse(entry.value);
    if version.is_none() {
        notes.push(Note::new(entry.line, entry.value, "expected a version"));
    }
    version
}

fn range(entry: Entry<'_>, notes: &mut Vec<Note>) -> Option<VersionRange> {
    let range = VersionRange::parse(entry.value);
    if range.is_none() {
        notes.push(Note::new(entry.line, entry.value, "expected a range such as `[7.0.0,8.9.9]`"));
    }
    range
}

/// `[a],[b]` as a list.
fn bracketed(text: &str) -> Vec<String> {
    let items = text.split(',').map(|item| item.trim().trim_matches(['[', ']']));
    items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_version_counts_before_a_components() {
        let info = parse_driver_info("Version=7.35.23\npackage_version=26.0.rc1\n");
        assert_eq!((info.version, info.version_key), (Version::parse("26.0.rc1"), Some("package_version")));
        let info = parse_driver_info("package_version=\nversion=26.1.0.b061\n");
        assert_eq!((info.version, info.version_key), (Version::parse("26.1.0.b061"), Some("version")));
    }

    #[test]
    fn a_range_knows_its_firmware() {
        let range = parse_driver_info("Version=25.3.rc1\ncompatible_version_fw=[7.0.0,7.7.99]").firmware.unwrap();
        for (version, inside) in [("7.7.0.1.231", true), ("7.7.99.3", true), ("7.8.0", false), ("6.9", false)] {
            assert_eq!(range.contains(&Version::parse(version).unwrap()), inside, "{version}");
        }
    }

    #[test]
    fn noise_is_noted() {
        let info = parse_driver_info("<html>\nVersion=unknown\ncompatible_version_fw=7.0.0\n");
        assert_eq!((info.version, info.firmware), (None, None));
        assert_eq!(info.notes.len(), 4, "{:?}", info.notes);
    }
}
