//! ELF files that no compiler of this machine makes: device code, and libraries that carry it.

/// `e_machine` of device code.
const AI_CORE: u16 = 0x1029;
const X86_64: u16 = 62;
const AARCH64: u16 = 183;

const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_DYNAMIC: u32 = 6;
const SHT_DYNSYM: u32 = 11;

const HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
/// A global function.
const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;

/// An ELF file in the making: 64 bits, little-endian, with sections alone, as much as a reader looks at.
#[derive(Debug, Clone)]
pub struct Elf {
    kind: u16,
    machine: u16,
    flags: u32,
    needed: Vec<String>,
    functions: Vec<String>,
    sections: Vec<(String, Vec<u8>)>,
}

impl Elf {
    /// Linked device code; `flags` of A2/A3 are `0x940000`, those of A5 `0x990000`.
    pub fn device(flags: u32) -> Self {
        Self { kind: 2, machine: AI_CORE, flags, needed: Vec::new(), functions: Vec::new(), sections: Vec::new() }
    }

    /// A shared library for this machine.
    pub fn library() -> Self {
        let machine = if cfg!(target_arch = "aarch64") { AARCH64 } else { X86_64 };
        Self { kind: 3, machine, flags: 0, needed: Vec::new(), functions: Vec::new(), sections: Vec::new() }
    }

    /// The same for another processor, by its ELF number.
    #[must_use]
    pub fn for_machine(self, machine: u16) -> Self {
        Self { machine, ..self }
    }

    /// With a library that it needs.
    #[must_use]
    pub fn needs(mut self, library: &str) -> Self {
        self.needed.push(library.to_owned());
        self
    }

    /// With a global function: a kernel of device code, an export of a library.
    #[must_use]
    pub fn function(mut self, name: &str) -> Self {
        self.functions.push(name.to_owned());
        self
    }

    /// With a section of these bytes.
    #[must_use]
    pub fn section(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.sections.push((name.to_owned(), bytes.into()));
        self
    }

    /// The file.
    pub fn build(&self) -> Vec<u8> {
        let mut strings = Strings::default();
        let symbols = self.symbols(&mut strings);
        let dynamic = self.dynamic(&mut strings);
        let mut out = Sections::default();
        out.add(".text", SHT_PROGBITS, &[0; 16], 0, 0);
        // The sections that refer to it come after it; each of those names it by its number, 2.
        out.add(".strings", SHT_STRTAB, &strings.bytes, 0, 0);
        out.add(".symtab", SHT_SYMTAB, &symbols, 2, 24);
        if self.machine != AI_CORE {
            out.add(".dynsym", SHT_DYNSYM, &symbols, 2, 24);
            out.add(".dynamic", SHT_DYNAMIC, &dynamic, 2, 16);
        }
        for (name, bytes) in &self.sections {
            out.add(name, SHT_PROGBITS, bytes, 0, 0);
        }
        out.finish(self)
    }

    fn symbols(&self, strings: &mut Strings) -> Vec<u8> {
        let mut symbols = vec![0; 24];
        for name in &self.functions {
            symbols.extend(strings.add(name).to_le_bytes());
            symbols.extend([GLOBAL_FUNCTION, 0]);
            symbols.extend(1u16.to_le_bytes());
            symbols.extend(0u64.to_le_bytes());
            symbols.extend(16u64.to_le_bytes());
        }
        symbols
    }

    fn dynamic(&self, strings: &mut Strings) -> Vec<u8> {
        let entries = self.needed.iter().map(|library| [1, u64::from(strings.add(library))]);
        entries.chain([[0, 0]]).flatten().flat_map(u64::to_le_bytes).collect()
    }
}

struct Strings {
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { bytes: vec![0] }
    }
}

impl Strings {
    fn add(&mut self, text: &str) -> u32 {
        let at = u32::try_from(self.bytes.len()).expect("a few names");
        self.bytes.extend(text.bytes().chain([0]));
        at
    }
}

#[derive(Default)]
struct Sections {
    contents: Vec<u8>,
    headers: Vec<[u8; SECTION_HEADER]>,
    names: Strings,
}

impl Sections {
    fn add(&mut self, name: &str, kind: u32, bytes: &[u8], link: u32, entry: u64) {
        self.contents.resize(self.contents.len().next_multiple_of(8), 0);
        let mut header = Vec::with_capacity(SECTION_HEADER);
        header.extend(self.names.add(name).to_le_bytes());
        header.extend(kind.to_le_bytes());
        header.extend([0; 16]); // flags, address
        header.extend(((HEADER + self.contents.len()) as u64).to_le_bytes());
        header.extend((bytes.len() as u64).to_le_bytes());
        header.extend(link.to_le_bytes());
        header.extend(1u32.to_le_bytes()); // the first symbol that is not local
        header.extend(8u64.to_le_bytes());
        header.extend(entry.to_le_bytes());
        self.headers.push(header.try_into().expect("ten fields"));
        self.contents.extend(bytes);
    }

    fn finish(mut self, file: &Elf) -> Vec<u8> {
        // The table of names holds its own as well.
        let mut names = Strings { bytes: self.names.bytes.clone() };
        names.add(".shstrtab");
        self.add(".shstrtab", SHT_STRTAB, &names.bytes, 0, 0);
        self.contents.resize(self.contents.len().next_multiple_of(8), 0);
        let mut out = b"\x7fELF\x02\x01\x01".to_vec();
        out.resize(16, 0);
        out.extend(file.kind.to_le_bytes());
        out.extend(file.machine.to_le_bytes());
        out.extend(1u32.to_le_bytes());
        out.extend([0; 16]); // entry, program headers
        out.extend(((HEADER + self.contents.len()) as u64).to_le_bytes());
        out.extend(file.flags.to_le_bytes());
        let count = u16::try_from(self.headers.len() + 1).expect("a few sections");
        for half in [HEADER as u16, 56, 0, SECTION_HEADER as u16, count, count - 1] {
            out.extend(half.to_le_bytes());
        }
        out.extend(self.contents);
        out.extend([0; SECTION_HEADER]);
        out.extend(self.headers.into_iter().flatten());
        out
    }
}
