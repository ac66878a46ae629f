//! Which kernels a command line means: names of the workspace, or paths.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::discover::{Discovery, discover};
use pto_kernel::manifest::render;
use pto_kernel::run::Suite;

use crate::exit::Failure;
use crate::setup::{shown, workspace_root};
use crate::style;

/// The name of a manifest.
pub const MANIFEST: &str = "kernel.toml";

/// All kernels of the workspace and of the working directory, where that lies elsewhere.
pub fn all(cx: &Context) -> Discovery {
    let root = workspace_root(cx);
    if cx.cwd() == root {
        return discover(Path::new("."));
    }
    let mut found = discover(&shown(cx, &root));
    if !cx.cwd().starts_with(&root) && !root.starts_with(cx.cwd()) {
        let mut here = discover(Path::new("."));
        found.kernels.append(&mut here.kernels);
        found.failures.append(&mut here.failures);
        found.collisions.append(&mut here.collisions);
    }
    found
}

/// The kernels that are meant: those named, by name or by path, or all.
///
/// # Errors
/// A name that no kernel has or that several have; nothing is there at all.
pub fn select(cx: &Context, names: &[String]) -> Result<Suite, Failure> {
    let suite = if names.is_empty() { everything(all(cx))? } else { named(cx, names)? };
    for kernel in &suite.kernels {
        for warning in &kernel.warnings {
            anstream::eprintln!("{} {}", style::warning("warning:"), render(&kernel.path, warning));
        }
    }
    Ok(suite)
}

fn everything(found: Discovery) -> Result<Suite, Failure> {
    for collision in &found.collisions {
        anstream::eprintln!("{} {collision}; rename one of them", style::warning("warning:"));
    }
    if found.kernels.is_empty() && found.failures.is_empty() {
        return Err(Failure::usage(
            "there are no kernels here",
            "make one with `cargo xtask kernel new NAME`".to_owned(),
        ));
    }
    Ok(found.into())
}

fn named(cx: &Context, names: &[String]) -> Result<Suite, Failure> {
    let mut found = None;
    let mut suite = Suite { named: true, ..Suite::default() };
    for name in names {
        let path = match path(name) {
            Some(path) => path,
            None => by_name(found.get_or_insert_with(|| all(cx)), name)?,
        };
        match Manifest::load(&path) {
            Ok(kernel) if suite.kernels.iter().any(|known| known.path == kernel.path) => {}
            Ok(kernel) => suite.kernels.push(kernel),
            Err(error) => suite.refused.push((path, error)),
        }
    }
    Ok(suite)
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

/// The manifest of the kernel of that name.
fn by_name(found: &Discovery, name: &str) -> Result<PathBuf, Failure> {
    if let Some(kernel) = found.by_name(name) {
        return Ok(kernel.path.clone());
    }
    if let Some(collision) = found.collisions.iter().find(|collision| collision.name == name) {
        return Err(Failure::usage(collision.to_string(), "give the path of the one that is meant".to_owned()));
    }
    // A manifest that does not load has no name; its directory is the best guess of what was meant.
    let meant = |path: &Path| path.parent().and_then(Path::file_name).is_some_and(|dir| dir == name);
    if let Some((path, _)) = found.failures.iter().find(|(path, _)| meant(path)) {
        return Ok(path.clone());
    }
    let mut advice = found.advice(name);
    if found.kernels.is_empty() {
        advice = "there is none here; make one with `cargo xtask kernel new NAME`".to_owned();
    }
    Err(Failure::usage(format!("there is no kernel `{name}`"), advice))
}
