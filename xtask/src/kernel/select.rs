//! Which kernels a command line means: names of the workspace, or paths.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::discover::{Discovery, discover};
use pto_kernel::manifest::render;
use pto_kernel::run::Suite;
use pto_process::shell_word;

use crate::exit::Failure;
use crate::setup::workspace_root;
use crate::{out, style};

/// The name of a manifest.
pub const MANIFEST: &str = "kernel.toml";

/// All kernels that are meant where nothing is named: those of the workspace, or, outside of it, those below the working
/// directory. Somebody who works elsewhere does not mean the examples.
pub fn all(cx: &Context) -> Discovery {
    let root = workspace_root(cx);
    if cx.cwd() != root && cx.cwd().starts_with(&root) { discover(&root) } else { discover(Path::new(".")) }
}

/// Where a name is looked for: as [`all`], and then in the workspace.
fn everywhere(cx: &Context) -> Discovery {
    let mut found = all(cx);
    let root = workspace_root(cx);
    if !cx.cwd().starts_with(&root) && !root.starts_with(cx.cwd()) {
        let mut workspace = discover(&root);
        found.kernels.append(&mut workspace.kernels);
        found.failures.append(&mut workspace.failures);
        found.collisions.append(&mut workspace.collisions);
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
            out::say(&format!("{} {}", style::warning("warning:"), render(&kernel.path, warning)));
        }
    }
    Ok(suite)
}

fn everything(found: Discovery) -> Result<Suite, Failure> {
    for collision in &found.collisions {
        out::say(&format!("{} {collision}; rename one of them", style::warning("warning:")));
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
        let paths = match by_path(name)? {
            Some(paths) => paths,
            None => vec![by_name(found.get_or_insert_with(|| everywhere(cx)), name)?],
        };
        for path in paths {
            match Manifest::load(&path) {
                Ok(kernel) if suite.kernels.iter().any(|known| known.path == kernel.path) => {}
                Ok(kernel) => suite.kernels.push(kernel),
                Err(error) => suite.refused.push((path, error)),
            }
        }
    }
    Ok(suite)
}

/// Takes the manifests that do not load out of a suite, each as what the verb has to tell besides its result.
pub fn refusals(suite: &mut Suite) -> Vec<Failure> {
    suite.refused.drain(..).map(|(_, error)| error.into()).collect()
}

/// A path is what holds a separator, ends in `.toml`, or is a source or a directory with manifests.
fn by_path(name: &str) -> Result<Option<Vec<PathBuf>>, Failure> {
    let path = Path::new(name);
    if path.join(MANIFEST).is_file() {
        return Ok(Some(vec![path.join(MANIFEST)]));
    }
    if is_source(path) {
        return manifest_of(path).map(|manifest| Some(vec![manifest]));
    }
    if path.is_dir() {
        return below(path, name.contains('/'));
    }
    match name.contains('/') || name.ends_with(".toml") {
        true if !path.exists() => Err(Failure::usage(format!("there is no file or directory `{name}`"), None)),
        is_path => Ok(is_path.then(|| vec![path.to_path_buf()])),
    }
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("cpp" | "cc" | "cxx" | "cce" | "asc" | "h" | "hpp"))
        && (path.is_file() || path.components().count() > 1)
}

/// The manifest beside a source, if that names it.
fn manifest_of(source: &Path) -> Result<PathBuf, Failure> {
    if !source.is_file() {
        return Err(Failure::usage(format!("there is no file `{}`", source.display()), None));
    }
    let manifest = source.with_file_name(MANIFEST);
    let same = |named: &PathBuf| named.canonicalize().ok() == source.canonicalize().ok();
    match Manifest::load(&manifest) {
        Ok(kernel) if kernel.sources.iter().any(same) => Ok(manifest),
        // What is wrong with it is told by whoever works on it.
        Err(_) if manifest.is_file() => Ok(manifest),
        _ => {
            let hint =
                format!("`cargo xtask kernel adopt {}` writes its {MANIFEST}", shell_word(&source.to_string_lossy()));
            let message = format!("`{}` is a source, and no {MANIFEST} beside it names it", source.display());
            Err(Failure::usage(message, hint))
        }
    }
}

/// All manifests below a directory. A bare word may still be a kernel's name.
fn below(dir: &Path, is_path: bool) -> Result<Option<Vec<PathBuf>>, Failure> {
    let found = discover(dir);
    let kernels = found.kernels.into_iter().map(|kernel| kernel.path);
    let mut paths: Vec<PathBuf> = kernels.chain(found.failures.into_iter().map(|(path, _)| path)).collect();
    paths.sort();
    match (paths.is_empty(), is_path || matches!(dir.to_str(), Some("." | ".."))) {
        (false, _) => Ok(Some(paths)),
        (true, false) => Ok(None),
        (true, true) => {
            let message = format!("there is no {MANIFEST} in `{}` or below it", dir.display());
            let hint =
                "make one with `cargo xtask kernel new NAME`, or for a source that exists with `kernel adopt FILE`";
            Err(Failure::usage(message, hint.to_owned()))
        }
    }
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
