//! The device code inside a library: ELF files within the ELF file.
//!
//! CANN's releases put them into sections of several names (`.aicore_binary`, `__aicore_rel_binary`,
//! `.ascend.kernel.<soc>.<name>`), and a build of one's own can put them anywhere. They are found by what they are, and the
//! section is told beside.

use std::collections::HashMap;

use memchr::memmem;
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};
use pto_platform::device_elf::{self, KernelMeta};
use pto_platform::{Arch, Core};
use serde::Serialize;

use super::Elf;
use super::exports::demangled;

/// How an ELF file begins.
const MAGIC: &[u8] = b"\x7fELF";

/// One piece of device code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Image {
    /// The section of the host file that holds it; `None` where the whole file is device code, or where no section does.
    pub section: Option<String>,
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is, in bytes.
    pub size: u64,
    /// What it was compiled for; `None` where the flags are not known here.
    pub arch: Option<Arch>,
    /// Its `e_flags`.
    pub flags: u32,
    /// Whether it can be run; else it is what another link may use.
    pub linked: bool,
    /// The kernels in it, in the order of their names.
    pub kernels: Vec<Kernel>,
}

/// A function of device code that can be launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Kernel {
    /// The symbol, without what marks the side of a mix kernel.
    pub name: String,
    /// As C++ writes it, where the name is a C++ one.
    pub signature: Option<String>,
    /// The cores it runs on; `None` where nothing says.
    pub core: Option<Core>,
}

/// A file that is device code and nothing else.
pub(super) fn whole(bytes: &[u8]) -> Vec<Image> {
    read(bytes, 0).into_iter().collect()
}

/// Every image in a host file. Each begins behind the end of the one before, so that the work is bounded by the file's size
/// whatever its headers claim.
pub(super) fn embedded(host: &Elf<'_>, bytes: &[u8]) -> Vec<Image> {
    let sections = Sections::of(host);
    let mut images = Vec::new();
    let mut from = 0;
    while let Some(found) = memmem::find(&bytes[from..], MAGIC) {
        let at = from + found;
        let end = header(&bytes[at..]).map_or(at, |(_, end)| at + end);
        from = end.max(at + MAGIC.len());
        images.extend(read(&bytes[at..end], at).map(|image| Image { section: sections.at(image.offset), ..image }));
    }
    images
}

/// The image that these bytes begin with, if they do.
fn read(bytes: &[u8], offset: usize) -> Option<Image> {
    let (header, end) = header(bytes)?;
    let bytes = &bytes[..end];
    let file = Elf::parse(bytes).ok()?;
    let flags = header.e_flags(LittleEndian).0;
    Some(Image {
        section: None,
        offset: offset as u64,
        size: bytes.len() as u64,
        arch: device_elf::arch(flags),
        flags,
        linked: header.e_type(LittleEndian) != elf::ET_REL,
        kernels: kernels(&file),
    })
}

/// The header of device code, and where the code ends: behind its table of sections, or behind what one of them holds,
/// whichever is last.
fn header(bytes: &[u8]) -> Option<(&elf::FileHeader64<LittleEndian>, usize)> {
    let header = elf::FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    if header.e_machine(LittleEndian).0 != device_elf::MACHINE || !header.is_little_endian() {
        return None;
    }
    let sections = header.section_headers(LittleEndian, bytes).ok()?;
    let table = header.e_shoff(LittleEndian).checked_add(size_of_val(sections) as u64)?;
    let contents = sections.iter().filter_map(|section| {
        let (start, size) = section.file_range(LittleEndian)?;
        start.checked_add(size)
    });
    let end = contents.chain([table]).filter(|end| *end <= bytes.len() as u64).max()?;
    Some((header, usize::try_from(end).ok()?))
}

/// Where the sections of a host file lie.
struct Sections(Vec<(u64, u64, String)>);

impl Sections {
    fn of(host: &Elf<'_>) -> Self {
        let places = host.sections().filter_map(|section| {
            let (start, size) = section.file_range()?;
            Some((start, size, String::from_utf8_lossy(section.name_bytes().ok()?).into_owned()))
        });
        let mut sections: Vec<_> = places.filter(|(_, size, _)| *size > 0).collect();
        sections.sort();
        Self(sections)
    }

    fn at(&self, offset: u64) -> Option<String> {
        let before = self.0.partition_point(|(start, ..)| *start <= offset);
        let (start, size, name) = self.0[..before].last()?;
        (offset - start < *size).then(|| name.clone())
    }
}

fn kernels(file: &Elf<'_>) -> Vec<Kernel> {
    let told = cores_told(file);
    let mut sides: Vec<(&str, Option<Core>)> = launchable(file).map(|symbol| side(symbol, &told)).collect();
    sides.sort();
    let mut kernels: Vec<Kernel> = Vec::new();
    for (name, core) in sides {
        match kernels.last_mut() {
            // The other side of a mix kernel.
            Some(last) if last.name == name => last.core = both(last.core, core),
            _ => kernels.push(Kernel { signature: demangled(name), name: name.to_owned(), core }),
        }
    }
    kernels
}

/// Global functions; helpers are local, weak or hidden.
fn launchable<'data>(file: &Elf<'data>) -> impl Iterator<Item = &'data str> {
    let functions = file.symbols().filter(|symbol| {
        symbol.is_definition() && symbol.is_global() && !symbol.is_weak() && symbol.kind() == SymbolKind::Text
    });
    functions.filter_map(|symbol| symbol.name().ok())
}

/// By symbol, what the sections that describe kernels say.
fn cores_told<'data>(file: &Elf<'data>) -> HashMap<&'data str, Core> {
    let told = file.sections().filter_map(|section| {
        let symbol = std::str::from_utf8(section.name_bytes().ok()?).ok()?.strip_prefix(device_elf::META_PREFIX)?;
        Some((symbol, KernelMeta::parse(section.data().ok()?).core()?))
    });
    told.collect()
}

/// The kernel that a symbol belongs to, and the cores that it is for: as its section says, else as its name does.
fn side<'data>(symbol: &'data str, told: &HashMap<&str, Core>) -> (&'data str, Option<Core>) {
    let told = told.get(symbol).copied();
    if let Some(name) = symbol.strip_suffix(device_elf::VECTOR_SIDE) {
        (name, told.or(Some(Core::Vec)))
    } else if let Some(name) = symbol.strip_suffix(device_elf::CUBE_SIDE) {
        (name, told.or(Some(Core::Cube)))
    } else {
        (symbol, told)
    }
}

fn both(one: Option<Core>, other: Option<Core>) -> Option<Core> {
    if one == other { one } else { Some(Core::Mix) }
}
