//! What is to be built.

use std::path::PathBuf;

use pto_platform::{Core, Soc};

/// A kernel to build for the CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRequest {
    /// Names the library: `lib<name>.so`.
    pub name: String,
    /// The sources as the user names them, relative to the context's directory.
    pub sources: Vec<PathBuf>,
    /// Generated sources, compiled as well: a name for messages, and the text. They see the sources' directories.
    pub generated: Vec<(String, String)>,
    /// Which cores it runs on. Mix is compiled once per side.
    pub core: Core,
    /// The SoC whose cores are played: it decides guards and the size of on-chip memory.
    pub soc: &'static Soc,
    /// Macros, defined before the first line of each source.
    pub defines: Vec<(String, Option<String>)>,
    /// Further include directories.
    pub include_dirs: Vec<PathBuf>,
    /// `-O<n>`.
    pub opt_level: u8,
    /// Whether PTO-ISA's headers are precompiled. Without that each build reads them anew: to measure what it saves, and to
    /// tell a fault of the precompiled headers from one of the kernel.
    pub precompiled: bool,
    /// Passed on as they are, last.
    pub extra_flags: Vec<String>,
}

impl KernelRequest {
    /// A kernel of the user's sources alone, with `-O1` and nothing else that need not be said.
    pub fn new(name: impl Into<String>, sources: Vec<PathBuf>, core: Core, soc: &'static Soc) -> Self {
        Self {
            name: name.into(),
            sources,
            generated: Vec::new(),
            core,
            soc,
            defines: Vec::new(),
            include_dirs: Vec::new(),
            opt_level: 1,
            precompiled: true,
            extra_flags: Vec::new(),
        }
    }
}
