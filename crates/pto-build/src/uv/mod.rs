//! The `uv` of a home: found, copied or fetched into `bin`, so that a build as the checkout's owner can use it even where
//! the one that was found lies under root's private home.

use std::fs::Permissions;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, Event};
use pto_fetch::Release;
use pto_process::{Error as ProcessError, Invocation};
use serde::Serialize;

use crate::error::{Error, HomeError};
use crate::home::Home;

/// The variable behind `--uv-version`, which is also how scripts of CI have it.
const VARIABLE: &str = "UV_VERSION";
/// How long it may take to say its version.
const ANSWER: Duration = Duration::from_secs(20);

/// Which `uv` is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UvChoice {
    /// The one that is here, or the newest.
    Latest,
    /// This release, whatever is here.
    Release(String),
}

impl UvChoice {
    /// The choice: what was given, else `UV_VERSION`, else the one that is here.
    ///
    /// # Errors
    /// [`HomeError::BadTag`].
    pub fn of(cx: &Context, given: Option<&str>) -> Result<Self, Error> {
        let tag = given.map(str::to_owned).or_else(|| cx.var(VARIABLE)).unwrap_or_else(|| "latest".to_owned());
        if tag == "latest" {
            return Ok(Self::Latest);
        }
        let version = tag.strip_prefix('v').unwrap_or(&tag);
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let starts = version.starts_with(|c: char| c.is_ascii_digit());
        if starts && version.split('.').all(is_part) {
            Ok(Self::Release(version.to_owned()))
        } else {
            Err(HomeError::BadTag { given: tag }.into())
        }
    }
}

/// What is done about `uv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum UvStep {
    /// The home's own works.
    Keep {
        /// What it says.
        version: String,
    },
    /// One that is on the machine is copied.
    Copy {
        /// Where it is.
        from: PathBuf,
        /// What it says.
        version: String,
    },
    /// A release is fetched.
    Fetch {
        /// Which one; without it the newest.
        version: Option<String>,
    },
}

/// Decides, writing nothing.
///
/// # Errors
/// The user asked for the end.
pub(crate) fn plan(cx: &Context, home: &Home, choice: &UvChoice) -> Result<UvStep, Error> {
    if let UvChoice::Release(version) = choice {
        return Ok(UvStep::Fetch { version: Some(version.clone()) });
    }
    if let Some(version) = version_of(cx, &home.uv())? {
        return Ok(UvStep::Keep { version });
    }
    for from in candidates(cx) {
        if let Some(version) = version_of(cx, &from)? {
            return Ok(UvStep::Copy { from, version });
        }
    }
    Ok(UvStep::Fetch { version: None })
}

/// Does it. What was there works until the new one has been started.
pub(crate) fn perform(cx: &Context, home: &Home, step: &UvStep) -> Result<(), Error> {
    match step {
        UvStep::Keep { .. } => Ok(()),
        UvStep::Copy { from, version } => put(cx, home, from, Some(version)),
        UvStep::Fetch { version } => fetch(cx, home, version.as_deref()),
    }
}

fn fetch(cx: &Context, home: &Home, version: Option<&str>) -> Result<(), Error> {
    let failed = Error::in_home("cannot fetch `uv`", home.root());
    let work = home.fetch_dir();
    let (tree, scratch) = (work.join("tree"), work.join("scratch"));
    for dir in [&tree, &scratch] {
        fs_err::create_dir_all(dir).map_err(&failed)?;
    }
    let release = Release { name: "uv", version: version.map(str::to_owned) };
    let result = release.install_into(cx, &tree, &scratch).map_err(|error| HomeError::Uv(error).into());
    let result = result.and_then(|_| put(cx, home, &tree.join("bin/uv"), version));
    let _ = fs_err::remove_dir_all(&work);
    result
}

/// Puts a program into the home once it has been started there and said the version.
fn put(cx: &Context, home: &Home, from: &Path, version: Option<&str>) -> Result<(), Error> {
    let bin = home.bin();
    let failed = Error::in_home("cannot put `uv` into PyPTO's home", &bin);
    fs_err::create_dir_all(home.bin()).map_err(&failed)?;
    let draft = home.draft("uv");
    fs_err::copy(from, &draft).map_err(&failed)?;
    fs_err::set_permissions(&draft, Permissions::from_mode(0o755)).map_err(&failed)?;
    let said = version_of(cx, &draft)?;
    let why = match (said, version) {
        (None, _) => Some("it does not start".to_owned()),
        (Some(said), Some(wanted)) if said != wanted => Some(format!("it is {said}, {wanted} was asked for")),
        _ => None,
    };
    if let Some(why) = why {
        let _ = fs_err::remove_file(&draft);
        return Err(HomeError::NotUv { path: from.to_path_buf(), why }.into());
    }
    fs_err::File::open(&draft).and_then(|file| file.sync_all()).map_err(&failed)?;
    fs_err::rename(&draft, home.uv()).map_err(&failed)?;
    cx.emit(Event::Finished { task: "setup:uv".to_owned(), message: "`uv` is ready".to_owned() });
    Ok(())
}

/// What the program says it is; `None` if it is not there or does not work.
pub(crate) fn version_of(cx: &Context, path: &Path) -> Result<Option<String>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let output = match Invocation::new(path).arg("--version").deadline(ANSWER).run(cx) {
        Ok(output) => output,
        Err(ProcessError::Interrupted { .. }) => return Err(Error::interrupted()),
        Err(_) => return Ok(None),
    };
    if output.status == pto_process::Status::Interrupted {
        return Err(Error::interrupted());
    }
    let text = output.stdout.text();
    let version = output.success().then(|| text.strip_prefix("uv ")?.split_whitespace().next().map(str::to_owned));
    Ok(version.flatten())
}

/// A copy of a shim would look for its manager beside itself.
fn is_binary(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = pto_context::files::open_regular(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"\x7fELF"
}

/// Where a `uv` may be that can be copied: on `PATH`, behind shims of `pyenv`, where its own installer puts it.
fn candidates(cx: &Context) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = which::which_in_global("uv", cx.var_os("PATH")).into_iter().flatten().collect();
    let shims: Vec<PathBuf> = found.iter().filter_map(|path| Some(path.parent()?.to_path_buf())).collect();
    for root in shims.iter().filter(|dir| dir.ends_with("shims")).filter_map(|dir| dir.parent()) {
        let mut versions: Vec<PathBuf> =
            fs_err::read_dir(root.join("versions")).into_iter().flatten().flatten().map(|item| item.path()).collect();
        versions.sort();
        found.extend(versions.iter().rev().map(|version| version.join("bin/uv")));
    }
    let home = cx.var_os("HOME").map(PathBuf::from);
    found.extend(home.iter().flat_map(|home| [".local/bin/uv", ".cargo/bin/uv"].map(|path| home.join(path))));
    found.retain(|path| is_binary(path));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_counts_before_the_variable() {
        let choice =
            |given: Option<&str>, variable: &str| UvChoice::of(&Context::fake("/", [(VARIABLE, variable)]), given);
        assert_eq!(choice(None, "").unwrap(), UvChoice::Latest);
        assert_eq!(choice(None, "0.9.2").unwrap(), UvChoice::Release("0.9.2".into()));
        assert_eq!(choice(Some("v0.9.3"), "0.9.2").unwrap(), UvChoice::Release("0.9.3".into()));
        assert_eq!(choice(Some("latest"), "0.9.2").unwrap(), UvChoice::Latest);
        for bad in ["newest", "0.9 2", "0..9", "--help", "0.9;x"] {
            assert!(matches!(choice(Some(bad), ""), Err(Error::Home(HomeError::BadTag { .. }))), "{bad}");
        }
    }
}
