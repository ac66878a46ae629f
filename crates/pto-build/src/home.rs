//! PyPTO's home: the directory of all that is installed for a checkout.

use std::path::{Path, PathBuf};

use pto_context::{Context, places};
use pto_store::{Lock, Slot};

use crate::error::{Error, HomeError};

/// How the name of a file ends that has no name of its own yet.
const DRAFT: &str = "-new";
/// What gets such a name in `bin`.
const DRAFTS: [&str; 3] = ["uv", crate::setup::PROGRAM, crate::setup::LINK];

/// `$PYPTO_HOME`. Nothing is looked at until somebody asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home: what was named, else `PYPTO_HOME`, else `/opt/pypto`.
    pub fn of(cx: &Context, named: Option<&Path>) -> Self {
        Self { root: named.map_or_else(|| places::pypto_home(cx), |named| cx.cwd().join(named)) }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The Python environment.
    pub fn venv(&self) -> PathBuf {
        self.root.join("venv")
    }

    /// The environment's interpreter.
    pub fn python(&self) -> PathBuf {
        self.venv().join("bin/python")
    }

    /// What goes on `PATH`.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The `uv` that checkouts' owners can use.
    pub fn uv(&self) -> PathBuf {
        self.bin().join("uv")
    }

    /// Where Pythons are that `uv` has installed for this home.
    pub fn pythons(&self) -> PathBuf {
        self.root.join("python")
    }

    /// The place of the environment, in which one is replaced by another.
    pub(crate) fn venv_slot(&self) -> Option<Slot> {
        Slot::new(self.venv())
    }

    /// Keeps everybody away who puts something into this home or its environment, until it is dropped. Whoever takes turns
    /// on checkouts as well does that first.
    pub(crate) fn lock(&self, cx: &Context) -> Result<Lock, Error> {
        let failed = Error::in_home("cannot write to PyPTO's home", &self.root);
        fs_err::create_dir_all(&self.root).map_err(&failed)?;
        let what = format!("setup of `{}`", self.root.display());
        Lock::acquire(cx, &self.root.join(".setup.lock"), &what).map_err(|error| match error {
            pto_store::Error::Io { source, .. } => failed(source),
            other => HomeError::NotWritten(other).into(),
        })
    }
}

impl Home {
    /// Deletes what runs that were killed have left. Call with the lock held. What cannot be deleted is only space.
    pub(crate) fn sweep(&self) {
        let _ = std::fs::remove_dir_all(self.fetch_dir());
        // Exactly those: what else begins with a dot there is somebody's.
        for name in DRAFTS {
            let _ = std::fs::remove_file(self.draft(name));
        }
        self.venv_slot().iter().for_each(|slot| drop(slot.sweep()));
    }

    /// Where `uv` is fetched to: the disk that it will be on.
    pub(crate) fn fetch_dir(&self) -> PathBuf {
        self.root.join(".fetch-uv")
    }

    /// Where a file of `bin` is written before it gets its name.
    pub(crate) fn draft(&self, name: &str) -> PathBuf {
        self.bin().join(format!(".{name}{DRAFT}"))
    }
}

/// What children look for a proxy in.
pub(crate) const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// The surroundings of children that fetch something: through a proxy for HTTP and HTTPS, if one was given.
pub fn with_proxy(cx: &Context, proxy: Option<&str>) -> Context {
    proxy.map_or_else(|| cx.clone(), |proxy| PROXIES.iter().fold(cx.clone(), |cx, name| cx.with_var(*name, proxy)))
}

/// The checkout that is meant: what was named, else where one is looked for.
pub(crate) fn checkout_of(cx: &Context, named: Option<&Path>) -> Option<PathBuf> {
    named.map_or_else(|| places::pypto_source(cx), |named| Some(cx.cwd().join(named)))
}

/// Whether a directory is a checkout of PyPTO: it has the file with its pins.
pub(crate) fn is_checkout(dir: &Path) -> bool {
    dir.join(places::PYPTO_PINS).is_file()
}
