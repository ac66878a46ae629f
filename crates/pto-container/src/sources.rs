//! The checkouts inside a container: which they are, where they are mounted, and which of them git may trust.

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, GitDirs, JobLimits};
use pto_context::Context;
use pto_context::places::PYPTO_PINS;

use crate::error::Error;
use crate::mount::Mount;
use crate::request::Request;
use crate::settings::{LIB_SOURCES, SOURCES, volume};

/// Where images keep both checkouts.
const WORKSPACE: &str = "/workspace";
const PYPTO: &str = "pypto";
const PYPTO_LIB: &str = "pypto-lib";

/// The sources of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sources {
    /// Mounts, the ones of checkouts first.
    pub(crate) mounts: Vec<Mount>,
    /// Where PyPTO is inside.
    pub(crate) pypto: PathBuf,
    /// Where pypto-lib is inside.
    pub(crate) pypto_lib: PathBuf,
    /// Checkouts and initialised submodules that belong to a user of the host, by their paths inside.
    pub(crate) trusted: Vec<PathBuf>,
}

impl Sources {
    /// The sources of the container with this name.
    pub(crate) fn find(cx: &Context, request: &Request, container: &str) -> Result<Self, Error> {
        // A checkout that was named counts more than a variable of the shell.
        let is_named = request.pypto_src.is_some() || request.pypto_lib_src.is_some();
        let of_shell = || path(cx, "PYPTO_HOST_WORKSPACE").filter(|_| !is_named);
        let workspace = request.workspace.clone().or_else(of_shell);
        match workspace {
            Some(dir) => Self::of_workspace(cx, &cx.cwd().join(dir)),
            None => Self::of_checkouts(cx, request, container),
        }
    }

    /// One directory that holds both checkouts, mounted where images have them.
    fn of_workspace(cx: &Context, dir: &Path) -> Result<Self, Error> {
        text(&real(dir))?;
        let places = [PYPTO, PYPTO_LIB].map(|name| dir.join(name));
        if let Some(missing) = places.iter().find(|place| !place.is_dir()) {
            let inside = (dir.join("workspace").join(PYPTO).is_dir()).then(|| dir.join("workspace"));
            let above = dir.parent().filter(|_| dir.join(PYPTO_PINS).is_file()).map(Path::to_owned);
            return Err(Error::NotAWorkspace { missing: missing.clone(), instead: inside.or(above) });
        }
        let mut sources = Self::empty();
        sources.mounts.push(Mount::bind(&real(dir), WORKSPACE));
        if dir.join(".git").exists() {
            sources.trusted.push(WORKSPACE.into());
        }
        let [pypto, lib] = places;
        for (place, name) in [(&pypto, PYPTO), (&lib, PYPTO_LIB)] {
            let inside = Path::new(WORKSPACE).join(name);
            // A directory that is not a checkout is mounted as it is.
            let found = GitDirs::find(place).ok().filter(|dirs| dirs.root == real(place));
            let Some(checkout) = found.map(|_| open(cx, place)).transpose()? else {
                stays_inside(dir, place)?;
                continue;
            };
            // A symbolic link that leads out of the workspace would be broken inside.
            match stays_whole(&checkout) && checkout.root().starts_with(real(dir)) {
                true => sources.trust(&checkout, &inside),
                false => sources.keep_paths(&checkout, name),
            }
            sources.elsewhere(&checkout);
            sources.limits(&checkout, name);
        }
        Ok(sources)
    }

    /// Two checkouts, with a volume for one that does not exist.
    fn of_checkouts(cx: &Context, request: &Request, container: &str) -> Result<Self, Error> {
        let pypto = request.pypto_src.clone().or_else(|| path(cx, "PYPTO_SRC")).or_else(|| around(cx));
        let pypto = pypto.map(|dir| open(cx, &dir)).transpose()?;
        let lib = request.pypto_lib_src.clone().or_else(|| path(cx, "PYPTO_LIB_SRC"));
        let lib = lib.or_else(|| pypto.as_ref().and_then(beside)).map(|dir| open(cx, &dir)).transpose()?;
        let mut sources = Self::empty();
        sources.add(pypto.as_ref(), PYPTO, &volume(container, SOURCES));
        sources.add(lib.as_ref(), PYPTO_LIB, &volume(container, LIB_SOURCES));
        Ok(sources)
    }

    fn empty() -> Self {
        Self {
            mounts: Vec::new(),
            pypto: Path::new(WORKSPACE).join(PYPTO),
            pypto_lib: Path::new(WORKSPACE).join(PYPTO_LIB),
            trusted: Vec::new(),
        }
    }

    fn add(&mut self, checkout: Option<&Checkout>, name: &str, volume: &str) {
        let inside = Path::new(WORKSPACE).join(name);
        match checkout {
            None => self.mounts.push(Mount::volume(volume, inside)),
            Some(checkout) if stays_whole(checkout) => {
                self.mounts.push(Mount::bind(checkout.root(), &inside));
                self.trust(checkout, &inside);
                self.elsewhere(checkout);
                self.limits(checkout, name);
            }
            Some(checkout) => {
                self.keep_paths(checkout, name);
                self.elsewhere(checkout);
                self.limits(checkout, name);
            }
        }
    }

    /// Mounts what a checkout names by absolute paths outside of itself: the repositories of submodules that are worktrees of
    /// other checkouts, and the object stores that a clone shares with others.
    fn elsewhere(&mut self, checkout: &Checkout) {
        for part in std::iter::once(checkout).chain(checkout.below()) {
            let repository = &part.dirs.common_dir;
            let is_inside = part.root() == checkout.root() || repository.starts_with(checkout.root());
            if !is_inside {
                self.keep(repository);
            }
            alternates(repository).iter().for_each(|store| self.keep(store));
        }
    }

    /// Mounts a directory at its own path, unless one above it is mounted so.
    fn keep(&mut self, dir: &Path) {
        let is_there = |mount: &Mount| Path::new(&mount.source) == mount.target && dir.starts_with(&mount.target);
        if !self.mounts.iter().any(is_there) {
            self.mounts.push(Mount::bind(dir, dir));
        }
    }

    /// Mounts a worktree and its repository at the paths of the host, by which they refer to each other.
    fn keep_paths(&mut self, checkout: &Checkout, name: &str) {
        let root = checkout.root();
        self.mounts.push(Mount::bind(root, root));
        self.keep(&checkout.dirs.common_dir);
        self.trust(checkout, root);
        let place = if name == PYPTO { &mut self.pypto } else { &mut self.pypto_lib };
        *place = root.to_owned();
    }

    fn trust(&mut self, checkout: &Checkout, inside: &Path) {
        let below = checkout.below().filter_map(|below| below.root().strip_prefix(checkout.root()).ok());
        let below: Vec<PathBuf> = below.map(|below| inside.join(below)).collect();
        self.trusted.push(inside.to_owned());
        self.trusted.extend(below);
    }

    /// Mounts the file with this machine's job limits at its own path.
    fn limits(&mut self, checkout: &Checkout, name: &str) {
        let file = JobLimits::file(checkout);
        let file = file.filter(|file| name == PYPTO && file.is_file());
        self.mounts.extend(file.map(|file| Mount::bind(&file, &file).readonly()));
    }
}

/// The object stores of other repositories that one takes objects from (`git clone --shared`), as far as they are there.
fn alternates(repository: &Path) -> Vec<PathBuf> {
    let objects = repository.join("objects");
    let text = std::fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let stores = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| objects.join(line));
    stores.filter_map(|store| store.canonicalize().ok()).filter(|store| !store.starts_with(repository)).collect()
}

/// Checks that a part of a workspace which is no checkout lies in it: a link that leads out would lead nowhere inside.
fn stays_inside(workspace: &Path, place: &Path) -> Result<(), Error> {
    let target = real(place);
    match target.starts_with(real(workspace)) {
        true => Ok(()),
        false => Err(Error::LeadsOut { place: place.to_owned(), target }),
    }
}

/// Whether a checkout can be mounted elsewhere, which is so if its repository is inside it.
fn stays_whole(checkout: &Checkout) -> bool {
    checkout.dirs.common_dir.starts_with(checkout.root())
}

fn open(cx: &Context, dir: &Path) -> Result<Checkout, Error> {
    let checkout = Checkout::open(cx, cx.cwd().join(dir))?;
    for path in [checkout.root(), &checkout.dirs.common_dir] {
        text(path)?;
    }
    Ok(checkout)
}

/// A path as text. The client's options are text, and a path that was converted with losses would name another place.
fn text(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::NotText { path: path.to_owned() })
}

/// The checkout of PyPTO that the working directory is in.
fn around(cx: &Context) -> Option<PathBuf> {
    GitDirs::find(cx.cwd()).ok().map(|dirs| dirs.root).filter(|root| root.join(PYPTO_PINS).is_file())
}

/// A checkout of pypto-lib beside this checkout, or beside the main one if this is a worktree.
fn beside(pypto: &Checkout) -> Option<PathBuf> {
    let roots = [Some(pypto.root()), pypto.primary.as_deref()];
    let places = roots.into_iter().flatten().filter_map(|root| Some(root.parent()?.join(PYPTO_LIB)));
    places.into_iter().find(|place| place.join(".git").exists())
}

fn path(cx: &Context, variable: &str) -> Option<PathBuf> {
    cx.var_os(variable).map(PathBuf::from)
}

fn real(dir: &Path) -> PathBuf {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned())
}
