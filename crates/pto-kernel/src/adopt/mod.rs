//! `kernel adopt`: reads a source that exists and writes the `kernel.toml` its author would have begun with. What the
//! source does not say is guessed, and every guess says so in a comment that starts with `check:`.

mod flow;
mod guess;
mod macros;
mod render;

use std::path::Path;

pub(crate) use guess::{guarded_core, used_dtype};

use crate::KernelError;
use crate::manifest::{Check, FILE_NAME};
use crate::source::{Function, Source};

/// A `kernel.toml` begun from a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    /// The function it calls.
    pub entry: String,
    /// Whether that is a `__global__` function whose launcher will be generated.
    pub is_global: bool,
    /// The manifest's text. It is valid, and its author has to go through the lines marked `check:`.
    pub text: String,
    /// What is left to do, in the order of the text.
    pub checks: Vec<Check>,
}

/// Begins a manifest for a source: for its `extern "C"` launcher, or, if it has none, for its `__global__` function.
/// `file` is the source's path as the manifest shall name it.
///
/// # Errors
/// The source has several functions and `entry` chooses none, `entry` names none of them, or there is nothing to launch.
pub fn adopt(source: &Source, file: &str, entry: Option<&str>) -> Result<Adopted, KernelError> {
    let function = choose(source, entry)?;
    Ok(render::render(source, file, function))
}

fn choose<'a>(source: &'a Source, entry: Option<&str>) -> Result<&'a Function, KernelError> {
    let launchers: Vec<&Function> = source.launchers().collect();
    let kernels: Vec<&Function> = definitions(source.kernels());
    if let Some(name) = entry {
        let found = launchers.iter().chain(&kernels).find(|f| f.name == name || f.qualified == name);
        return found.copied().ok_or_else(|| KernelError::NoFunction {
            what: "launcher or `__global__` function",
            name: name.to_owned(),
            sources: source.path().to_path_buf(),
            known: launchers.iter().chain(&kernels).map(|f| f.name.clone()).collect(),
        });
    }
    let candidates = if launchers.is_empty() { kernels } else { launchers };
    match candidates.as_slice() {
        [] => Err(KernelError::NothingToAdopt { path: source.path().to_path_buf() }),
        [one] => Ok(one),
        several => Err(KernelError::SeveralEntries {
            path: source.path().to_path_buf(),
            names: several.iter().map(|f| f.name.clone()).collect(),
        }),
    }
}

/// Definitions, and declarations of what is not defined here.
fn definitions<'a>(kernels: impl Iterator<Item = &'a Function>) -> Vec<&'a Function> {
    let all: Vec<&Function> = kernels.collect();
    let defined = |name: &str| all.iter().any(|f| f.body.is_some() && f.qualified == name);
    all.iter().copied().filter(|f| f.body.is_some() || !defined(&f.qualified)).collect()
}

/// Writes the manifest beside the source. An existing one is kept unless `force` is set.
///
/// # Errors
/// [`KernelError::Exists`] if there is one, [`KernelError::Write`] if it cannot be written.
pub fn write(adopted: &Adopted, dir: &Path, force: bool) -> Result<std::path::PathBuf, KernelError> {
    let path = dir.join(FILE_NAME);
    crate::write::file(&path, &adopted.text, force)?;
    Ok(path)
}
