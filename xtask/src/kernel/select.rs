//! Which kernels a command line means: names of the workspace, or paths.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::discover::{Discovery, discover};
use pto_kernel::manifest::render;

use crate::exit::Failure;
use crate::setup::{shown, workspace_root};
use crate::style;

/// The name of a manifest.
pub const MANIFEST: &str = "kernel.toml";

/// The kernels that are meant.
#[derive(Debug, Default)]
pub struct Selection {
    /// Those that can be worked on.
    pub kernels: Vec<Manifest>,
    /// Those whose manifest does not load.
    pub refused: Vec<Refused>,
    /// Whether each was asked for, by name or path.
    pub named: bool,
}

/// A kernel whose manifest does not load.
#[derive(Debug)]
pub struct Refused {
    /// The name of its directory: the manifest's is not known.
    pub name: String,
    /// The manifest.
    pub path: PathBuf,
    /// What is wrong with it.
    pub failure: Failure,
}

impl Refused {
    fn new(path: PathBuf, failure: Failure) -> Self {
        let dir = path.parent().and_then(Path::file_name).unwrap_or(path.as_os_str());
        Self { name: dir.to_string_lossy().into_owned(), path, failure }
    }
}

impl From<Discovery> for Selection {
    fn from(found: Discovery) -> Self {
        let refused = found.failures.into_iter().map(|(path, error)| Refused::new(path, error.into()));
        Self { kernels: found.kernels, refused: refused.collect(), named: false }
    }
}

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
pub fn select(cx: &Context, names: &[String]) -> Result<Selection, Failure> {
    let selection = if names.is_empty() { everything(all(cx))? } else { named(cx, names)? };
    for kernel in &selection.kernels {
        for warning in &kernel.warnings {
            anstream::eprintln!("{} {}", style::warning("warning:"), render(&kernel.path, warning));
        }
    }
    Ok(selection)
}

fn everything(found: Discovery) -> Result<Selection, Failure> {
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

fn named(cx: &Context, names: &[String]) -> Result<Selection, Failure> {
    let mut found = None;
    let mut selection = Selection { named: true, ..Selection::default() };
    for name in names {
        let loaded = match path(name) {
            Some(path) => Manifest::load(&path).map_err(|error| Refused::new(path, error.into())),
            None => by_name(found.get_or_insert_with(|| all(cx)), name)?,
        };
        match loaded {
            Ok(kernel) if selection.kernels.iter().any(|known| known.path == kernel.path) => {}
            Ok(kernel) => selection.kernels.push(kernel),
            Err(refused) => selection.refused.push(refused),
        }
    }
    Ok(selection)
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

fn by_name(found: &Discovery, name: &str) -> Result<Result<Manifest, Refused>, Failure> {
    if let Some(kernel) = found.by_name(name) {
        return Ok(Ok(kernel.clone()));
    }
    if let Some(collision) = found.collisions.iter().find(|collision| collision.name == name) {
        return Err(Failure::usage(collision.to_string(), "give the path of the one that is meant".to_owned()));
    }
    // A manifest that does not load has no name; its directory is the best guess of what was meant.
    let meant = |path: &Path| path.parent().and_then(Path::file_name).is_some_and(|dir| dir == name);
    if let Some((path, _)) = found.failures.iter().find(|(path, _)| meant(path)) {
        let failure = Manifest::load(path).err().map(Failure::from);
        let failure = failure.unwrap_or_else(|| Failure::usage(format!("`{}` has just changed", path.display()), None));
        return Ok(Err(Refused::new(path.clone(), failure)));
    }
    let mut advice = found.advice(name);
    if found.kernels.is_empty() {
        advice = "there is none here; make one with `cargo xtask kernel new NAME`".to_owned();
    }
    Err(Failure::usage(format!("there is no kernel `{name}`"), advice))
}
