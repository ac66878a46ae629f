//! The files that name a CANN release. There are at least four, and none is in every installation.

use serde::Serialize;

use crate::cann_release::release_of;
use crate::entries::{Entries, Entry};
use crate::{Note, Version};

/// Parts from which on a plain number is taken for an internal one (`7.6.0.1.220`): releases have three.
const PARTS_OF_INNER_VERSION: usize = 5;

/// One file that names a CANN release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CannFile {
    /// Which of them it is.
    pub kind: CannFileKind,
    /// The public release: `8.0.RC3`, `8.5.0`, `9.0.0`, of an internal build `8.0.T63`.
    pub release: Option<Version>,
    /// The internal number or identifier: `7.6.0.1.220`, `V100R001C22SPC001B231`.
    pub inner: Option<String>,
    /// What `version.cfg` says of each package.
    pub packages: Vec<CannPackage>,
    /// `package_name`: `Ascend-cann-toolkit`.
    pub package_name: Option<String>,
    /// `arch`: `aarch64`, `x86_64`.
    pub arch: Option<String>,
    /// Where the file says CANN is installed.
    pub path: Option<String>,
    /// What was not understood, or is odd: packages that differ, for instance.
    pub notes: Vec<Note>,
}

/// Which file it is; they are told apart by their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CannFileKind {
    /// `latest/version.cfg`: pairs of internal and public version per package.
    VersionCfg,
    /// `<arch>-linux/ascend_toolkit_install.info`.
    ToolkitInstallInfo,
    /// `version.info` of a package: `opp`, `compiler`, `runtime`, ...
    PackageInfo,
    /// `/etc/Ascend/ascend_cann_install.info`: where CANN is, and no release except in that path.
    CannInstallInfo,
    /// None of these keys.
    Unknown,
}

/// A line of `version.cfg`: `runtime_running_version=[7.6.0.1.220:8.0.0]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CannPackage {
    /// `runtime`, `compiler`, `opp_kernel`, ...
    pub name: String,
    /// `running`, `upgrade` or `installed`.
    pub state: String,
    /// The internal number.
    pub inner: String,
    /// The public release.
    pub release: String,
}

/// Reads a file that names a CANN release, whichever it is.
pub fn parse_cann_file(text: &str) -> CannFile {
    let mut entries = Entries::read(text);
    let mut notes = std::mem::take(&mut entries.notes);
    let packages = packages(&entries, &mut notes);
    let kind = kind(&entries, &packages);
    let path = entries.owned("path").or_else(|| entries.owned("Toolkit_InstallPath"));
    let written = release_of(&entries.all).or_else(|| path.as_deref().and_then(release_in_path));
    let release = written.and_then(|text| release(text, kind, &mut notes));
    CannFile {
        kind,
        inner: inner(&entries, &packages, release.as_ref()),
        release,
        packages,
        package_name: entries.owned("package_name"),
        arch: entries.owned("arch"),
        path,
        notes,
    }
}

fn kind(entries: &Entries<'_>, packages: &[CannPackage]) -> CannFileKind {
    let has = |key| entries.get(key).is_some();
    if !packages.is_empty() {
        CannFileKind::VersionCfg
    } else if has("package_name") || has("innerversion") && has("path") {
        CannFileKind::ToolkitInstallInfo
    } else if has("version_dir") || has("Version") || has("version") {
        CannFileKind::PackageInfo
    } else if has("Toolkit_InstallPath") {
        CannFileKind::CannInstallInfo
    } else {
        CannFileKind::Unknown
    }
}

fn packages(entries: &Entries<'_>, notes: &mut Vec<Note>) -> Vec<CannPackage> {
    let lines = entries.all.iter().filter(|entry| entry.key.ends_with("_version") && entry.value.starts_with('['));
    let packages: Vec<(usize, CannPackage)> = lines
        .filter_map(|entry| {
            let package = package(*entry);
            if package.is_none() && entry.key.ends_with("_running_version") {
                notes.push(Note::new(entry.line, entry.value, "expected a pair such as `[7.6.0.1.220:8.0.0]`"));
            }
            Some((entry.line, package?))
        })
        .collect();
    let mut running = packages.iter().filter(|(_, package)| package.state == "running");
    if let Some((_, first)) = running.next() {
        for (line, other) in running.filter(|(_, other)| other.release != first.release) {
            let why = format!("release `{}` differs from `{}` of `{}`", other.release, first.release, first.name);
            notes.push(Note::new(*line, &other.name, why));
        }
    }
    packages.into_iter().map(|(_, package)| package).collect()
}

fn package(entry: Entry<'_>) -> Option<CannPackage> {
    let (name, state) = entry.key.strip_suffix("_version")?.rsplit_once('_')?;
    let (inner, release) = entry.value.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
    let owned = |text: &str| text.trim().to_owned();
    Some(CannPackage { name: owned(name), state: owned(state), inner: owned(inner), release: owned(release) })
}

/// The release in the last part of a path that has one: `/usr/local/Ascend/cann-9.0.0`, `.../8.2.RC1/aarch64-linux`.
fn release_in_path(path: &str) -> Option<&str> {
    path.split('/').rev().map(|part| part.strip_prefix("cann-").unwrap_or(part)).find(|part| {
        part.starts_with(|c: char| c.is_ascii_digit()) && part.contains('.') && Version::parse(part).is_some()
    })
}

fn release(text: &str, kind: CannFileKind, notes: &mut Vec<Note>) -> Option<Version> {
    let version = Version::parse(text);
    let inner =
        text.split('.').count() >= PARTS_OF_INNER_VERSION && text.bytes().all(|c| c == b'.' || c.is_ascii_digit());
    if version.is_none() {
        notes.push(Note::new(0, text, "expected a release such as `8.5.0`"));
    } else if inner && kind == CannFileKind::PackageInfo {
        notes.push(Note::new(0, text, "looks like an internal number, and the file names no release"));
    }
    version
}

fn inner(entries: &Entries<'_>, packages: &[CannPackage], release: Option<&Version>) -> Option<String> {
    let of_package = packages.iter().find(|package| Version::parse(&package.release).as_ref() == release);
    let version = entries.get("Version").filter(|text| Version::parse(text).as_ref() != release);
    of_package
        .map(|package| package.inner.clone())
        .or_else(|| entries.owned("innerversion"))
        .or_else(|| version.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_differ_are_noted() {
        let file = parse_cann_file("runtime_running_version=[7.5:8.0.RC3]\ntoolkit_running_version=[7.6:8.0.0]\n");
        assert_eq!((file.release, file.inner.as_deref()), (Version::parse("8.0.0"), Some("7.6")));
        assert!(file.notes[0].why.contains("`8.0.0` differs from `8.0.RC3`"), "{:?}", file.notes);
    }

    #[test]
    fn a_path_names_a_release_where_nothing_else_does() {
        let release = |text| parse_cann_file(text).release.map(|release| release.to_string());
        assert_eq!(release("Toolkit_InstallPath=/opt/Ascend/cann-9.0.0\n").as_deref(), Some("9.0.0"));
        assert_eq!(release("Toolkit_InstallPath=/opt/ascend-toolkit/8.2.RC1/\n").as_deref(), Some("8.2.RC1"));
        assert_eq!(release("Toolkit_InstallPath=/usr/local/Ascend/latest\n"), None);
        assert_eq!(release("Version=8.0.T63\n").as_deref(), Some("8.0.T63"));
    }

    #[test]
    fn an_internal_number_is_not_passed_off_as_a_release() {
        let file = parse_cann_file("Version=7.6.0.1.220\n");
        assert!(file.notes[0].why.contains("internal"), "{:?}", file.notes);
        assert_eq!(parse_cann_file("hello\n").kind, CannFileKind::Unknown);
    }
}
