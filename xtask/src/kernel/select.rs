//! Which kernels a command line means: names of the workspace, or paths.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::discover::{Discovery, discover};
use pto_kernel::manifest::render;

use crate::exit::{Failure, USAGE};
use crate::setup::workspace_root;
use crate::style;

/// The name of a manifest.
pub const MANIFEST: &str = "kernel.toml";

/// All kernels of the workspace and of the working directory, where that lies elsewhere.
pub fn all(cx: &Context) -> Discovery {
    let root = workspace_root(cx);
    // Paths are shown as the user would type them.
    let shown = |dir: &Path| dir.strip_prefix(cx.cwd()).map_or(dir.to_path_buf(), |inside| Path::new(".").join(inside));
    let mut found = discover(&shown(&root));
    if !cx.cwd().starts_with(&root) && !root.starts_with(cx.cwd()) {
        let mut here = discover(Path::new("."));
        found.kernels.append(&mut here.kernels);
        found.failures.append(&mut here.failures);
        found.collisions.append(&mut here.collisions);
    }
    found
}

/// The kernels that are meant: those named, by name or by path, or all.
pub fn select(cx: &Context, names: &[String]) -> Result<Vec<Manifest>, Failure> {
    let kernels = if names.is_empty() { everything(all(cx))? } else { named(cx, names)? };
    for kernel in &kernels {
        for warning in &kernel.warnings {
            anstream::eprintln!("{} {}", style::warning("warning:"), render(&kernel.path, warning));
        }
    }
    Ok(kernels)
}

fn everything(found: Discovery) -> Result<Vec<Manifest>, Failure> {
    if let Some((_, error)) = found.failures.into_iter().next() {
        return Err(error.into());
    }
    if let Some(collision) = found.collisions.first() {
        return Err(Failure::usage(collision.to_string(), "rename one of them".to_owned()));
    }
    if found.kernels.is_empty() {
        return Err(Failure::usage(
            "there are no kernels here",
            "make one with `cargo xtask kernel new NAME`".to_owned(),
        ));
    }
    Ok(found.kernels)
}

fn named(cx: &Context, names: &[String]) -> Result<Vec<Manifest>, Failure> {
    let mut found = None;
    let mut kernels: Vec<Manifest> = Vec::new();
    for name in names {
        let kernel = match path(name) {
            Some(path) => Manifest::load(&path)?,
            None => by_name(found.get_or_insert_with(|| all(cx)), name)?,
        };
        if !kernels.iter().any(|known| known.path == kernel.path) {
            kernels.push(kernel);
        }
    }
    Ok(kernels)
}

/// A path is what holds a separator, ends in `.toml`, or is a directory with a manifest.
fn path(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.join(MANIFEST).is_file() {
        return Some(path.join(MANIFEST));
    }
    (name.contains('/') || name.ends_with(".toml"))
        .then(|| if path.is_dir() { path.join(MANIFEST) } else { path.to_path_buf() })
}

fn by_name(found: &Discovery, name: &str) -> Result<Manifest, Failure> {
    if let Some(kernel) = found.by_name(name) {
        return Ok(kernel.clone());
    }
    if let Some(collision) = found.collisions.iter().find(|collision| collision.name == name) {
        return Err(Failure::usage(collision.to_string(), "give the path of the one that is meant".to_owned()));
    }
    // A manifest that does not load has no name; its directory is the best guess of what was meant.
    let meant = |path: &Path| path.parent().and_then(Path::file_name).is_some_and(|dir| dir == name);
    if let Some((_, error)) = found.failures.iter().find(|(path, _)| meant(path)) {
        let hint = error.hint();
        return Err(Failure::with(USAGE, crate::exit::chain(error), hint));
    }
    Err(Failure::usage(format!("there is no kernel `{name}`"), found.advice(name)))
}
