//! Wheels of PTOAS as releases have made them, in all three layouts, and with every defect.

use std::io::{Cursor, Write};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pto_platform::Machine;
use pto_ptoas::Layout;
use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A wheel in the making.
pub(crate) struct Wheel {
    pub(crate) version: String,
    /// Name, mode, content.
    pub(crate) files: Vec<(String, u32, Vec<u8>)>,
}

impl Wheel {
    /// A wheel whose assembler is a shell script that says the version.
    pub(crate) fn new(version: &str, layout: Layout) -> Self {
        Self::with_program(version, layout, script(&format!("echo ptoas {version}")))
    }

    /// A wheel whose assembler is this program.
    pub(crate) fn with_program(version: &str, layout: Layout, program: Vec<u8>) -> Self {
        let data = format!("ptoas-{version}.data");
        let package = ("ptoas/__init__.py".to_owned(), 0o644, format!("version = {version:?}\n").into_bytes());
        let in_root = |name: &str| format!("{data}/data/{name}");
        let bin = format!("{data}/scripts/ptoas");
        // In the oldest layout `bin/ptoas` does not find its libraries, in the newest not its Python.
        let broken = || script("echo this is not the launcher >&2; exit 127");
        let files = match layout {
            Layout::LauncherFile => vec![(in_root("ptoas"), 0o755, program), (bin, 0o755, broken())],
            Layout::PackageDirectory => {
                vec![package, (in_root("ptoas/data.txt"), 0o644, b"a directory".to_vec()), (bin, 0o755, program)]
            }
            Layout::LauncherScript => vec![package, (in_root("ptoas.sh"), 0o755, program), (bin, 0o755, broken())],
        };
        Self { version: version.to_owned(), files }
    }

    /// With so many more files, whose content tells the version.
    pub(crate) fn with_data(mut self, files: usize) -> Self {
        for index in 0..files {
            let content = data(&self.version, index);
            self.files.push((format!("ptoas/data/{index}.txt"), 0o644, content));
        }
        self
    }

    /// Its file name, for a CPython.
    pub(crate) fn file(&self, (major, minor): (u32, u32)) -> String {
        let machine = Machine::current().unwrap();
        format!("ptoas-{}-cp{major}{minor}-cp{major}{minor}-manylinux_2_17_{machine}.whl", self.version)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let info = format!("ptoas-{}.dist-info", self.version);
        let mut files = self.files.clone();
        let metadata = format!("Metadata-Version: 2.1\nName: ptoas\nVersion: {}\n", self.version);
        let tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n";
        files.push((format!("{info}/METADATA"), 0o644, metadata.into_bytes()));
        files.push((format!("{info}/WHEEL"), 0o644, tag.into()));
        let mut record: String = files.iter().map(|(name, _, content)| line(name, content)).collect();
        record += &format!("{info}/RECORD,,\n");
        files.push((format!("{info}/RECORD"), 0o644, record.into_bytes()));
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, mode, content) in &files {
            writer.start_file(name.as_str(), SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }
}

fn line(name: &str, content: &[u8]) -> String {
    format!("{name},sha256={},{}\n", URL_SAFE_NO_PAD.encode(Sha256::digest(content)), content.len())
}

/// A shell script.
pub(crate) fn script(line: &str) -> Vec<u8> {
    format!("#!/bin/sh\n{line}\n").into_bytes()
}

/// The content of one of the many files of a version.
pub(crate) fn data(version: &str, index: usize) -> Vec<u8> {
    format!("{version} {index} ").repeat(500).into_bytes()
}
