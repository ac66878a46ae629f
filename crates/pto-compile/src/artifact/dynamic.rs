//! What a file tells the loader.

use object::read::elf::Dyn as _;
use object::{LittleEndian, Object, elf};
use serde::Serialize;

use super::Elf;

/// What a file tells the loader; all empty for one that is not to be loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dynamic {
    /// The name that others link it by.
    pub soname: Option<String>,
    /// The sum that tells one build from another, in hexadecimal.
    pub build_id: Option<String>,
    /// The libraries it needs, in the order in which they are looked for.
    pub needed: Vec<String>,
    /// Directories to look for them in (`RUNPATH`, else `RPATH`), as they stand: `$ORIGIN` is the file's own directory.
    pub run_path: Vec<String>,
    /// Versions of symbols that those libraries have to have.
    pub versions: Vec<NeededVersion>,
}

/// A version that a library has to have: `libc.so.6` has to know `GLIBC_2.34`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct NeededVersion {
    /// The library.
    pub library: String,
    /// The version.
    pub version: String,
}

impl Dynamic {
    pub(super) fn of(file: &Elf<'_>) -> Self {
        let run_path = strings(file, elf::DT_RUNPATH).pop().or_else(|| strings(file, elf::DT_RPATH).pop());
        let path = run_path.unwrap_or_default();
        Self {
            soname: strings(file, elf::DT_SONAME).pop(),
            build_id: file.build_id().ok().flatten().map(hex),
            needed: strings(file, elf::DT_NEEDED),
            run_path: path.split(':').filter(|dir| !dir.is_empty()).map(str::to_owned).collect(),
            versions: versions(file).unwrap_or_default(),
        }
    }
}

fn strings(file: &Elf<'_>, tag: elf::DynamicTag) -> Vec<String> {
    let Ok(table) = file.elf_dynamic_table() else { return Vec::new() };
    let entries = table.dynamics().iter().filter(|entry| entry.tag(LittleEndian) == tag);
    entries
        .filter_map(|entry| entry.string(LittleEndian, *table.strings()).ok())
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect()
}

/// Sorted by library, then version.
fn versions(file: &Elf<'_>) -> object::Result<Vec<NeededVersion>> {
    let sections = file.elf_section_table();
    let Some((mut libraries, link)) = sections.gnu_verneed(LittleEndian, file.data())? else { return Ok(Vec::new()) };
    let names = sections.strings(LittleEndian, file.data(), link)?;
    let mut versions = Vec::new();
    while let Some((library, mut wanted)) = libraries.next()? {
        let library = String::from_utf8_lossy(library.file(LittleEndian, names)?).into_owned();
        while let Some(version) = wanted.next()? {
            let version = String::from_utf8_lossy(version.name(LittleEndian, names)?).into_owned();
            versions.push(NeededVersion { library: library.clone(), version });
        }
    }
    versions.sort();
    versions.dedup();
    Ok(versions)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
