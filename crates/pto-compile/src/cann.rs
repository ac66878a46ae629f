//! Where the CANN toolkit, its compiler, the PTO headers and the driver are, and which rule found them.
//!
//! | what | rules, the first that applies |
//! |---|---|
//! | CANN | given by the caller; `ASCEND_HOME_PATH`; `ASCEND_TOOLKIT_HOME`; the usual places, see [`usual_places`] |
//! | `bisheng` | `<cann>/bin/bisheng`; `PATH` |
//! | PTO headers | given by the caller; `PTO_LIB_PATH`; `<cann>/include` |
//! | driver | `ASCEND_DRIVER_PATH`; `/usr/local/Ascend/driver` |
//!
//! A place that somebody named is used or refused, never passed over in silence: with another CANN than the one the
//! user asked for, a kernel compiles and then misbehaves on the device.

mod error;
mod headers;
mod located;
mod release;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use pto_context::{Context, places};
use serde::Serialize;

pub use error::list;
pub use error::{CannError, Tried};
pub(crate) use located::open_path;
pub use located::{Located, Rule};
pub use release::{Release, release};

/// The release that the flags of this crate were checked with comes first.
const DEFAULT_ROOT: &str = "/usr/local/Ascend/cann-9.0.0";
/// Where every release puts itself, and its older relatives.
const ASCEND: &str = "/usr/local/Ascend";
/// The variables that name the CANN root, stronger first. `set_env.sh` sets both.
const ROOT_VARIABLES: [&str; 2] = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"];

/// What the driver is called in reports. No plan depends on it.
const DRIVER: &str = "the driver";

/// What the caller knows better than the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolchainOptions {
    /// The CANN root.
    pub cann: Option<PathBuf>,
    /// A directory that holds `include/pto/pto-inst.hpp` or `pto/pto-inst.hpp`.
    pub pto_headers: Option<PathBuf>,
}

/// Everything a bisheng command line refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// The CANN root.
    pub cann: Located,
    /// The compiler.
    pub bisheng: Located,
    /// The directory to put behind `-I` for `#include <pto/pto-inst.hpp>`.
    pub pto_headers: Located,
    /// The NPU driver. Compiling goes on without it: only some headers come from there.
    pub driver: Located,
}

impl Toolchain {
    /// A toolchain that is really there.
    ///
    /// # Errors
    /// CANN, its compiler or the PTO headers are missing; the error lists every place that was tried.
    pub fn find(cx: &Context, options: &ToolchainOptions) -> Result<Self, CannError> {
        let cann = find_root(cx, options.cann.as_deref())?;
        let bisheng = find_bisheng(cx, &cann.path)?;
        let pto_headers = headers::find(cx, options.pto_headers.as_deref(), &cann.path)?;
        Ok(Self { cann, bisheng, pto_headers, driver: driver(cx) })
    }

    /// The toolchain as far as it is there, and for the rest where it would be: enough to print a plan.
    pub fn assume(cx: &Context, options: &ToolchainOptions) -> Self {
        let cann = assume_root(cx, options.cann.as_deref());
        let bisheng = find_bisheng(cx, &cann.path)
            .unwrap_or_else(|_| Located::missing(cann.path.join("bin/bisheng"), Rule::InsideCann));
        let pto_headers = headers::assume(cx, options.pto_headers.as_deref(), &cann.path);
        Self { cann, bisheng, pto_headers, driver: driver(cx) }
    }

    /// One line for each part that a plan needs and that is not on this machine.
    pub fn notes(&self) -> Vec<String> {
        let needed = self.parts().into_iter().filter(|(what, _)| *what != DRIVER);
        needed
            .filter(|(_, part)| !part.exists)
            .map(|(what, part)| format!("not on this machine: {what}, `{}` ({})", part.path.display(), part.rule))
            .collect()
    }

    /// One line for each part: where it is and which rule chose it.
    pub fn report(&self) -> Vec<String> {
        let line = |(what, part): (&str, &Located)| {
            let absent = if part.exists { "" } else { ", not there" };
            format!("{what}: `{}` ({}{absent})", part.path.display(), part.rule)
        };
        self.parts().map(line).into()
    }

    fn parts(&self) -> [(&'static str, &Located); 4] {
        // Every field by name: a new part does not compile until it is reported.
        let Self { cann, bisheng, pto_headers, driver } = self;
        [("CANN", cann), ("`bisheng`", bisheng), ("the PTO headers", pto_headers), (DRIVER, driver)]
    }
}

/// The PTO headers that are meant and really there; CANN is looked for only when nobody names them.
///
/// # Errors
/// They were named and are not there, or nobody named them and there is no CANN or none in it.
pub fn find_headers(cx: &Context, options: &ToolchainOptions) -> Result<Located, CannError> {
    let named = options.pto_headers.is_some() || cx.var_os("PTO_LIB_PATH").is_some();
    let cann = if named { PathBuf::new() } else { find_root(cx, options.cann.as_deref())?.path };
    headers::find(cx, options.pto_headers.as_deref(), &cann)
}

/// The CANN root that is meant and really there.
///
/// # Errors
/// A place was named and is not a directory, or none was named and none of the usual places exists.
pub fn find_root(cx: &Context, explicit: Option<&Path>) -> Result<Located, CannError> {
    if let Some((path, rule)) = named_root(cx, explicit) {
        let located = Located::probe_dir(cx, path, rule);
        return if located.exists { Ok(located) } else { Err(CannError::NotADirectory { located }) };
    }
    let places = usual_places(cx);
    let mut tried: Vec<Tried> = ROOT_VARIABLES.map(Tried::unset).into();
    tried.extend(places.iter().map(|place| Tried::absent(place)));
    let found = places.into_iter().map(|place| Located::probe_dir(cx, place, Rule::UsualPlace));
    found.into_iter().find(|located| located.exists).ok_or(CannError::NoCann { tried })
}

/// The CANN root that is meant, whether it is there or not.
pub fn assume_root(cx: &Context, explicit: Option<&Path>) -> Located {
    find_root(cx, explicit).unwrap_or_else(|error| match error {
        CannError::NotADirectory { located } => located,
        _ => Located::missing(DEFAULT_ROOT, Rule::UsualPlace),
    })
}

/// The places to look at when nobody names one: the default release; `cann`, the link that an installer leaves to
/// the release in use; other `cann-*` releases, the newest first; `ascend-toolkit/latest` of older releases.
pub fn usual_places(cx: &Context) -> Vec<PathBuf> {
    let ascend = Path::new(ASCEND);
    let mut releases: Vec<String> = fs_err::read_dir(cx.under_root(ascend))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("cann-") && !DEFAULT_ROOT.ends_with(name.as_str()))
        .collect();
    releases.sort_by_key(|name| Reverse(release_order(name)));
    let mut places = vec![PathBuf::from(DEFAULT_ROOT), ascend.join("cann")];
    places.extend(releases.iter().map(|name| ascend.join(name)));
    places.push(ascend.join("ascend-toolkit/latest"));
    places
}

/// The root that somebody named.
fn named_root(cx: &Context, explicit: Option<&Path>) -> Option<(PathBuf, Rule)> {
    let variable = || ROOT_VARIABLES.iter().find_map(|name| Some((cx.var_os(name)?.into(), Rule::Variable(name))));
    explicit.map(|path| (path.to_path_buf(), Rule::Explicit)).or_else(variable)
}

/// Orders `cann-9.2.0` above `cann-9.0.0` above `cann-9.0.0-beta.1`, and `cann-10.0` above both.
fn release_order(name: &str) -> (Vec<u32>, bool, String) {
    let version = name.trim_start_matches("cann-");
    let numbers = version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    let is_final = numbers.len() == version.len();
    (numbers.split('.').filter_map(|number| number.parse().ok()).collect(), is_final, name.to_owned())
}

fn find_bisheng(cx: &Context, cann: &Path) -> Result<Located, CannError> {
    let inside = cann.join("bin/bisheng");
    if located::open_path(cx, &inside).is_file() {
        return Ok(Located { path: inside, rule: Rule::InsideCann, exists: true });
    }
    located::on_path(cx, "bisheng").ok_or_else(|| CannError::NoBisheng {
        tried: vec![Tried::absent(&inside), Tried::new("PATH", "has no executable `bisheng`")],
    })
}

/// Where CANN keeps the programs that belong to it, relative to its root.
const PROGRAM_DIRS: [&str; 3] = ["bin", "tools/profiler/bin", "tools/cannsim/bin"];

/// A program of CANN's, such as `msprof`: inside the CANN that is meant, else on `PATH`.
///
/// # Errors
/// It is not there; every place that was tried.
pub fn find_program(cx: &Context, cann: &Path, name: &str) -> Result<Located, Vec<Tried>> {
    let inside = || PROGRAM_DIRS.iter().map(|dir| cann.join(dir).join(name));
    if let Some(path) = program_inside(cx, cann, name) {
        return Ok(Located { path, rule: Rule::InsideCann, exists: true });
    }
    located::on_path(cx, name).ok_or_else(|| {
        let on_path = Tried::new("PATH", format!("has no executable `{name}`"));
        inside().map(|path| Tried::absent(&path)).chain([on_path]).collect()
    })
}

/// A program of CANN's inside the CANN that is meant.
pub fn program_inside(cx: &Context, cann: &Path, name: &str) -> Option<PathBuf> {
    let inside = PROGRAM_DIRS.iter().map(|dir| cann.join(dir).join(name));
    inside.into_iter().find(|path| located::open_path(cx, path).is_file())
}

fn driver(cx: &Context) -> Located {
    match cx.var_os("ASCEND_DRIVER_PATH") {
        Some(path) => Located::probe_dir(cx, path, Rule::Variable("ASCEND_DRIVER_PATH")),
        None => Located::probe_dir(cx, places::DRIVER_ROOT, Rule::UsualPlace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_releases_come_first() {
        let mut names = ["cann-8.5.0", "cann-10.0.0", "cann-9.2.0-beta.1", "cann-9.2.0", "cann-", "cann-x"];
        names.sort_by_key(|name| Reverse(release_order(name)));
        assert_eq!(names[..4], ["cann-10.0.0", "cann-9.2.0", "cann-9.2.0-beta.1", "cann-8.5.0"]);
    }
}
