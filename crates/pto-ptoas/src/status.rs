//! Every PTOAS there is, which one a build would use, and whether it is the one that the checkout asks for.

use std::path::{Path, PathBuf};

use pto_compile::cann;
use pto_context::Context;
use pto_platform::Version;
use serde::Serialize;

use crate::error::Error;
use crate::launcher::{Launcher, Layout, is_program};
use crate::mentions::{Mention, drift};
use crate::pin::{Pin, PinSource};
use crate::prefix::Prefix;
use crate::probe;

/// Where a PTOAS was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Below the directory that `PTOAS_ROOT` names. Then no other place counts.
    PtoasRoot,
    /// Where the installer puts it when nobody names a place.
    UsualPlace,
    /// On `PATH`.
    Path,
    /// In a CANN installation.
    Cann,
}

/// A PTOAS that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Where.
    pub place: Place,
    /// The launcher, or for a mere Python package its directory.
    pub path: PathBuf,
    /// How the installation is laid out, where that can be told.
    pub layout: Option<Layout>,
    /// The version that it says.
    pub version: Option<String>,
    /// Why it says none.
    pub problem: Option<String>,
}

/// What the checkout asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pinned {
    /// The version.
    pub version: String,
    /// sha256 of the wheel for this machine.
    pub sha256: String,
    /// The file that says so.
    pub file: PathBuf,
}

/// What it comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A build would use the pinned version.
    AsPinned,
    /// A build would use a newer one, which PyPTO takes.
    Newer,
    /// A build would use an older one, which PyPTO's code generator refuses.
    Older,
    /// What a build would use does not work.
    Broken,
    /// There is none that a build would use.
    Missing,
    /// There is one, and no checkout to hold it against.
    Unpinned,
    /// Neither a checkout nor an installation.
    Nothing,
}

impl Verdict {
    /// Whether a build can go on.
    pub fn is_good(self) -> bool {
        matches!(self, Self::AsPinned | Self::Newer | Self::Unpinned | Self::Nothing)
    }
}

/// Everything about the PTOAS of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What it comes to.
    pub verdict: Verdict,
    /// What the checkout asks for; `None` without a readable one.
    pub pinned: Option<Pinned>,
    /// Why there is no pin.
    pub no_pin: Option<String>,
    /// The directory that is looked into first.
    pub root: PathBuf,
    /// Every one that is there: the installation, those on `PATH`, CANN's.
    pub found: Vec<Found>,
    /// The launcher that a build would use.
    pub used: Option<PathBuf>,
    /// Why that one.
    pub why: String,
    /// Where the checkout mentions another version than it pins.
    pub drift: Vec<Mention>,
    /// What to run when the verdict is not good.
    pub command: Option<String>,
}

/// Looks for every PTOAS. Each one is started to ask for its version.
///
/// # Errors
/// An interrupt, or a root that cannot be one.
pub fn status(cx: &Context, source: &PinSource, root: Option<&Path>) -> Result<Status, Error> {
    let (pin, no_pin) = match Pin::read(cx, source) {
        Ok(pin) => (Some(pin), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let prefix = Prefix::of(cx, root)?;
    let is_named = root.is_some() || cx.var_os("PTOAS_ROOT").is_some();
    let mut found = Vec::new();
    if let Some(launcher) = Launcher::find(prefix.root()) {
        found.push(ask(cx, if is_named { Place::PtoasRoot } else { Place::UsualPlace }, launcher)?);
    }
    for launcher in on_path(cx).into_iter().chain(in_cann(cx)) {
        if !found.iter().any(|one: &Found| one.path == launcher.1.path) {
            found.push(ask(cx, launcher.0, launcher.1)?);
        }
    }
    found.extend(cann_package(cx));
    let (used, why) = choose(&found, is_named, prefix.root());
    let verdict = verdict(used, pin.as_ref());
    Ok(Status {
        verdict,
        command: (!verdict.is_good()).then(|| command(pin.as_ref(), source, root)),
        drift: pin.as_ref().map(|pin| drift_of(cx, pin)).unwrap_or_default(),
        pinned: pin.map(|pin| Pinned { version: pin.version.to_string(), sha256: pin.sha256, file: pin.file }),
        no_pin,
        used: used.map(|used| used.path.clone()),
        why,
        root: prefix.root().to_path_buf(),
        found,
    })
}

fn ask(cx: &Context, place: Place, launcher: Launcher) -> Result<Found, Error> {
    let said = probe::version(cx, &launcher)?;
    let layout = (place != Place::Path).then_some(launcher.layout);
    let problem = said.as_ref().err().map(|silent| match silent.missing.as_slice() {
        [] => silent.ended.clone(),
        [one] => format!("`{one}` is missing"),
        [first, others @ ..] => format!("`{first}` and {} more libraries are missing", others.len()),
    });
    Ok(Found { place, path: launcher.path, layout, version: said.ok().map(|version| version.to_string()), problem })
}

fn on_path(cx: &Context) -> Vec<(Place, Launcher)> {
    let found = which::which_in_global("ptoas", cx.var_os("PATH")).into_iter().flatten();
    found.map(|path| (Place::Path, Launcher { path, layout: Layout::PackageDirectory })).collect()
}

/// Where releases of CANN keep an assembler of their own.
fn in_cann(cx: &Context) -> Vec<(Place, Launcher)> {
    let Ok(root) = cann::find_root(cx, None) else { return Vec::new() };
    let root = cx.under_root(&root.path);
    let dirs = [root.clone(), root.join("tools/ptoas"), root.join("ptoas")];
    let launcher = |dir: &PathBuf| Launcher::find(dir).filter(|found| is_program(&found.path));
    dirs.iter().filter_map(launcher).map(|launcher| (Place::Cann, launcher)).collect()
}

/// CANN's Python package of the same name, which is imported in place of the pinned one when it comes first.
fn cann_package(cx: &Context) -> Option<Found> {
    let root = cann::find_root(cx, None).ok()?;
    let path = cx.under_root(&root.path).join("python/site-packages/ptoas");
    let problem = "a Python package, which must not come before the pinned one on `PYTHONPATH`".to_owned();
    path.is_dir().then_some(Found { place: Place::Cann, path, layout: None, version: None, problem: Some(problem) })
}

/// With a named root nothing else counts, so that a build does not silently take another one.
fn choose<'a>(found: &'a [Found], is_named: bool, root: &Path) -> (Option<&'a Found>, String) {
    let at = |place: Place| found.iter().find(|one| one.place == place);
    if is_named {
        let why = match at(Place::PtoasRoot) {
            Some(_) => "its directory was named, so `PATH` does not count".to_owned(),
            None => {
                format!("`{}` was named and has no launcher, and then nothing else counts", root.display())
            }
        };
        return (at(Place::PtoasRoot), why);
    }
    match (at(Place::UsualPlace), at(Place::Path)) {
        (Some(one), _) => (Some(one), "it is where the installer puts it".to_owned()),
        (None, Some(one)) => (Some(one), "it is the first on `PATH`".to_owned()),
        (None, None) => (None, format!("there is none in `{}` and none on `PATH`", root.display())),
    }
}

fn verdict(used: Option<&Found>, pin: Option<&Pin>) -> Verdict {
    let Some(used) = used else { return if pin.is_some() { Verdict::Missing } else { Verdict::Nothing } };
    let Some(version) = used.version.as_deref().and_then(Version::parse) else { return Verdict::Broken };
    match pin.map(|pin| version.cmp(&pin.version)) {
        None => Verdict::Unpinned,
        Some(std::cmp::Ordering::Less) => Verdict::Older,
        Some(std::cmp::Ordering::Equal) => Verdict::AsPinned,
        Some(std::cmp::Ordering::Greater) => Verdict::Newer,
    }
}

/// The command that installs the pinned one, with the options that were given.
fn command(pin: Option<&Pin>, source: &PinSource, root: Option<&Path>) -> String {
    let mut words = vec!["cargo xtask ptoas install".to_owned()];
    match (&source.file, &source.checkout) {
        (Some(file), _) => words.push(format!("--versions-env {}", file.display())),
        (None, Some(checkout)) => words.push(format!("--checkout {}", checkout.display())),
        (None, None) if pin.is_none() => words.push("--checkout DIR".to_owned()),
        (None, None) => {}
    }
    words.extend(root.map(|root| format!("--root {}", root.display())));
    words.join(" ")
}

fn drift_of(cx: &Context, pin: &Pin) -> Vec<Mention> {
    let Some(checkout) = &pin.checkout else { return Vec::new() };
    let checkout = if checkout.is_absolute() { cx.under_root(checkout) } else { cx.cwd().join(checkout) };
    drift(&checkout, &pin.version)
}
