//! A Python package for a kernel: a typed binding that CMake builds ahead of time, and a runner that needs no compiler.
//!
//! [`generate`] writes the package, [`build`] builds its binding. What the manifest says (types, shapes, scalars, the number
//! of blocks) becomes data of the package, which computes with it as exactly as this crate does.

mod build;
mod error;
mod render;

use std::path::{Path, PathBuf};

use pto_platform::{Soc, Target};

pub use build::{BuildTools, Built as BuiltBinding, build};
pub use error::BindError;

use crate::manifest::Manifest;
use render::Render;

/// What a package is made from.
#[derive(Debug, Clone, Copy)]
pub struct BindRequest<'a> {
    /// The kernel.
    pub manifest: &'a Manifest,
    /// What its library was built for.
    pub target: Target,
    /// The SoC whose cores count where no device says how many there are.
    pub soc: &'static Soc,
    /// The library that holds the launcher; every library beside it is taken along.
    pub library: &'a Path,
    /// The launcher's symbol in it.
    pub symbol: &'a str,
    /// The library that plays a device on the CPU.
    pub host_acl: Option<&'a Path>,
}

/// A package that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its directory, to be put on `PYTHONPATH`.
    pub dir: PathBuf,
    /// What Python imports.
    pub module: String,
    /// The files written, relative to the directory.
    pub files: Vec<PathBuf>,
}

/// Writes a package. What is there already under the same names is replaced, everything else stays.
///
/// # Errors
/// A type has no counterpart in NumPy, the place is taken, or a file cannot be written.
pub fn generate(request: &BindRequest<'_>, dir: &Path) -> Result<Package, BindError> {
    refuse_taken(dir)?;
    let render = Render::new(request)?;
    let module = render.module.clone();
    let mut files = Vec::new();
    for (path, text) in render.files() {
        write(dir, &path, text.as_bytes())?;
        files.push(path);
    }
    let libraries = Path::new(&module).join("lib");
    for library in beside(request.library)?.iter().map(PathBuf::as_path).chain(request.host_acl) {
        let to = libraries.join(library.file_name().unwrap_or_default());
        write(dir, &to, &fs_err::read(library)?)?;
        files.push(to);
    }
    Ok(Package { dir: dir.to_path_buf(), module, files })
}

/// Refuses a place where no package can be, which can be asked before the kernel is built.
///
/// # Errors
/// Something that is no directory lies there.
pub fn refuse_taken(dir: &Path) -> Result<(), BindError> {
    match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => Err(BindError::NotADirectory { dir: dir.to_path_buf() }),
        _ => Ok(()),
    }
}

/// The libraries of a directory: a kernel's runtime, and the other side of a mix kernel, lie beside it.
fn beside(library: &Path) -> Result<Vec<PathBuf>, BindError> {
    let dir = library.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "so") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Beside its place and renamed: a library that Python has loaded must not change under it.
fn write(dir: &Path, path: &Path, bytes: &[u8]) -> Result<(), BindError> {
    let path = dir.join(path);
    fs_err::create_dir_all(path.parent().unwrap_or(dir))?;
    Ok(crate::write::whole(&path, bytes)?)
}
