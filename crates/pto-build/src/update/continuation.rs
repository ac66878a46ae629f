//! The checkout's own updater: what was pulled knows best how it is built.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pto_context::Context;
use pto_process::Invocation;

use super::arriving::Arriving;
use crate::error::{Error, UpdateError};
use crate::home::PROXIES;

/// Set for the checkout's updater, so that it does not hand over once more.
const GUARD: &str = "PTOKIT_UPDATE_CONTINUES";
/// Where a checkout has its updater, the first that is there.
pub(super) const UPDATERS: [&str; 2] = ["docker/scripts/pypto-update", "docker/scripts/pypto-update.sh"];
/// A checkout that has this builds images, and so has to have an updater.
pub(super) const RECIPE: &str = "docker";

/// Options that the checkout's updater gets too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// `--reinstall-deps`.
    pub reinstall_deps: bool,
    /// `--skip-doctor`.
    pub skip_doctor: bool,
    /// `--proxy`.
    pub proxy: Option<String>,
    /// `--jobs`.
    pub jobs: Option<u32>,
    /// `--json`.
    pub json: bool,
}

/// An updater of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Updater {
    path: &'static str,
    is_executable: bool,
}

impl Updater {
    /// The one of a checkout in which `mode_of` says what mode the file or directory of a path has, if it is there.
    fn of(src: &Path, mode_of: impl Fn(&str) -> Option<u32>) -> Result<Option<Self>, Error> {
        let found = UPDATERS.iter().find_map(|path| Some((*path, mode_of(path)?)));
        if found.is_none() && mode_of(RECIPE).is_some() {
            let looked_for = UPDATERS.map(|updater| src.join(updater)).to_vec();
            return Err(UpdateError::NoUpdater { src: src.to_path_buf(), looked_for }.into());
        }
        Ok(found.map(|(path, mode)| Self { path, is_executable: mode & 0o111 != 0 }))
    }
}

/// The command that goes on with the update; `None` if this program does, since the checkout has no updater or is the one
/// that started it. Before the checkout is pulled, `arriving` says what it will have.
///
/// # Errors
/// [`UpdateError::NoUpdater`].
pub fn continuation(
    cx: &Context,
    src: &Path,
    home: &Path,
    passed: &Passed,
    arriving: Option<&Arriving>,
) -> Result<Option<Invocation>, Error> {
    if cx.var_os(GUARD).is_some() {
        return Ok(None);
    }
    let here = |path: &str| Some(fs_err::metadata(src.join(path)).ok()?.permissions().mode());
    let updater = match arriving {
        Some(arriving) => Updater::of(src, |path| arriving.modes.get(path).copied())?,
        None => Updater::of(src, here)?,
    };
    let Some(Updater { path, is_executable }) = updater else { return Ok(None) };
    let updater = src.join(path);
    let start = if is_executable { Invocation::new(updater) } else { Invocation::new("bash").arg(updater) };
    let mut command = start.arg("--no-pull").env(GUARD, "1").env("PYPTO_SRC", src).env("PYPTO_HOME", home);
    if passed.reinstall_deps {
        command = command.arg("--reinstall-deps");
    }
    if let Some(proxy) = &passed.proxy {
        // Not as an argument: it may hold a password, and every user of the machine sees arguments.
        command = PROXIES.iter().fold(command, |command, name| command.env(*name, proxy));
    }
    if let Some(jobs) = passed.jobs {
        command = command.arg("--jobs").arg(jobs.to_string());
    }
    if passed.skip_doctor {
        command = command.arg("--skip-doctor");
    }
    if passed.json {
        command = command.arg("--json");
    }
    Ok(Some(command.cwd(src)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(cx: &Context, src: &Path, passed: &Passed) -> Result<Option<String>, Error> {
        let command = continuation(cx, src, Path::new("/home"), passed, None)?;
        Ok(command.map(|command| command.to_shell_line().replace(&src.display().to_string(), "@")))
    }

    #[test]
    fn the_checkouts_updater_goes_on_once() {
        let dir = tempfile::tempdir().unwrap();
        let src = dir.path();
        let cx = Context::fake("/", [("A", "1")]);
        assert_eq!(line(&cx, src, &Passed::default()).unwrap(), None, "a checkout without images");
        fs_err::create_dir_all(src.join("docker/scripts")).unwrap();
        let error = line(&cx, src, &Passed::default()).unwrap_err();
        assert!(error.to_string().contains("docker/scripts/pypto-update.sh`"), "{error}");
        fs_err::write(src.join("docker/scripts/pypto-update.sh"), "").unwrap();
        let all = Passed {
            reinstall_deps: true,
            skip_doctor: true,
            proxy: Some("http://u:p@h:1".into()),
            jobs: Some(2),
            json: true,
        };
        assert_eq!(
            line(&cx, src, &all).unwrap().unwrap(),
            "cd @ && HTTPS_PROXY='http://***@h:1' HTTP_PROXY='http://***@h:1' PTOKIT_UPDATE_CONTINUES=1 PYPTO_HOME=/home PYPTO_SRC=@ \
             http_proxy='http://***@h:1' https_proxy='http://***@h:1' bash @/docker/scripts/pypto-update.sh --no-pull \
             --reinstall-deps --jobs 2 --skip-doctor --json"
        );
        let program = src.join("docker/scripts/pypto-update");
        fs_err::write(&program, "").unwrap();
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let plain = line(&cx, src, &Passed::default()).unwrap().unwrap();
        assert!(plain.ends_with("PYPTO_SRC=@ @/docker/scripts/pypto-update --no-pull"), "{plain}");
        // What everybody sees of the process, and what it alone does.
        let script = "#!/bin/sh\ntr '\\0' ' ' </proc/$$/cmdline; echo \"| $HTTPS_PROXY $https_proxy\"\n";
        fs_err::write(&program, script).unwrap();
        let cx = cx.with_var("PATH", "/usr/bin:/bin");
        let command = continuation(&cx, src, Path::new("/home"), &all, None).unwrap().unwrap();
        let said = command.run(&cx).unwrap().stdout.text().into_owned();
        let (seen, own) = said.split_once('|').unwrap();
        assert!(seen.contains("--no-pull") && !seen.contains("u:p"), "{seen}");
        assert_eq!(own.trim(), "http://u:p@h:1 http://u:p@h:1");
        assert_eq!(line(&cx.with_var(GUARD, "1"), src, &all).unwrap(), None, "it is the one that goes on");
    }
}
