//! What is compiled for a kernel, whatever the compiler.

use std::path::PathBuf;

use crate::KernelError;
use crate::launcher::{GeneratedLauncher, generate};
use crate::manifest::{Entry, Manifest};
use crate::signature::{check_signature, declared_launchers};
use crate::source::Source;

/// The sources of a kernel, held against its manifest, and the launcher, generated where it has none.
pub(super) struct CompileInput<'a> {
    /// The user's sources, without the one that a generated launcher is compiled with.
    pub(super) sources: Vec<PathBuf>,
    /// The generated launcher. It needs the kernel's definition in its translation unit: that source is compiled with it.
    pub(super) launcher: Option<GeneratedLauncher<'a>>,
    /// The launcher's symbol, the user's or the generated one's.
    pub(super) symbol: String,
}

impl<'a> CompileInput<'a> {
    /// # Errors
    /// A declaration does not fit the manifest, or the launcher has to be generated and cannot be.
    pub(super) fn new(manifest: &Manifest, sources: &'a [Source]) -> Result<Self, KernelError> {
        for source in sources {
            check_signature(manifest, &declared_launchers(source))?;
        }
        let launcher = generate(manifest, sources)?;
        let symbol = match (&launcher, &manifest.entry) {
            (Some(launcher), _) => launcher.symbol.clone(),
            (None, Entry::Launcher(symbol) | Entry::Global(symbol)) => symbol.clone(),
        };
        let mut sources = manifest.sources.clone();
        sources.retain(|path| launcher.as_ref().is_none_or(|launcher| path != launcher.source.path()));
        Ok(Self { sources, launcher, symbol })
    }
}

/// The static dims, as macros.
pub(super) fn defines(manifest: &Manifest) -> Vec<(String, Option<String>)> {
    manifest.defines().into_iter().map(|(name, value)| (name, Some(value.to_string()))).collect()
}
