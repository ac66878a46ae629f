//! What a remote has, looked at without changing the repository: new objects go into a directory of their own, and no ref
//! is written.

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Git};
use pto_context::Context;
use pto_platform::git::{parse_remote_refs, resolve_ref};
use pto_process::{Invocation, masked};

use super::gitmodules::Place;
use crate::error::{Error, UpdateError};
use crate::patches::{self, Patch};

/// A list of all files of the largest tree is far below this; a list that is cut would be wrong.
const LARGEST_LIST: usize = 1 << 30;

/// A repository together with what its remote has.
pub(super) struct Incoming<'a> {
    cx: &'a Context,
    git: Git,
    root: PathBuf,
    objects: PathBuf,
    /// Asked in place of the remote, if that was moved there.
    moved_to: Option<String>,
    /// Where new objects are, once there are any.
    scratch: tempfile::TempDir,
    /// Locked as long as this process looks at them.
    _alive: std::fs::File,
}

/// How the names of directories of new objects begin.
const SCRATCH: &str = "ptokit-incoming-";
/// The file in one that whoever made it keeps locked.
const ALIVE: &str = "ptokit.lock";

/// Deletes what updates that were killed have left: those whose lock nobody holds.
fn sweep(temp: &Path) {
    let entries = std::fs::read_dir(temp).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(SCRATCH)) {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = pto_context::files::open_regular(&entry.path().join(ALIVE));
        if is_dir && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl<'a> Incoming<'a> {
    pub(super) fn of(cx: &'a Context, checkout: &Checkout) -> Result<Self, Error> {
        let git = checkout.git(cx)?;
        git.run_as().prepare()?;
        let temp = git.run_as().temp_dir(cx);
        sweep(&temp);
        let failed = |source| pto_store::Error::place("cannot look at what a remote has", &temp, source);
        let scratch = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&temp).map_err(failed)?;
        let alive = std::fs::File::create(scratch.path().join(ALIVE)).map_err(failed)?;
        alive.lock().map_err(failed)?;
        if git.run_as().is_other() {
            let owner = git.run_as().user();
            std::os::unix::fs::chown(scratch.path(), Some(owner.uid), Some(owner.gid)).map_err(failed)?;
        }
        let objects = checkout.dirs.common_dir.join("objects");
        Ok(Self { cx, git, root: checkout.root().to_path_buf(), objects, moved_to: None, scratch, _alive: alive })
    }

    /// The same of a submodule whose commits are at a place.
    pub(super) fn from(self, place: &Place) -> Self {
        match place {
            Place::Moved(url) => Self { moved_to: Some(url.clone()), ..self },
            Place::Remote | Place::Chosen { .. } => self,
        }
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// The commit of a branch of a remote now.
    pub(super) fn tip(&self, remote: &str, name: &str) -> Result<String, Error> {
        let remote = self.asked(remote);
        let asking = self.exchanging()?.args(["ls-remote", "--quiet", "--", remote, name]);
        let output = self.remote(remote, self.git.run(self.cx, "list the refs of the remote", asking))?;
        let missing = || {
            UpdateError::NoSuchRef { repository: self.root.clone(), remote: masked(remote), name: name.to_owned() }
                .into()
        };
        resolve_ref(&parse_remote_refs(&output), name).map(str::to_owned).ok_or_else(missing)
    }

    /// Has a commit that a remote has, by its own name or else with all of the remote's branches.
    pub(super) fn obtain(&self, remote: &str, commit: &str) -> Result<(), Error> {
        let remote = self.asked(remote);
        if self.has(commit)? || self.fetch(remote, &[commit.to_owned()]).is_ok() && self.has(commit)? {
            return Ok(());
        }
        let asking = self.exchanging()?.args(["ls-remote", "--quiet", "--heads", "--tags", "--", remote]);
        let heads = self.remote(remote, self.git.run(self.cx, "list the refs of the remote", asking))?;
        let names: Vec<String> = parse_remote_refs(&heads).into_iter().map(|head| head.name).collect();
        let names: Vec<String> = names.into_iter().filter(|name| !name.ends_with("^{}")).collect();
        if !names.is_empty() {
            self.fetch(remote, &names)?;
        }
        if self.has(commit)? {
            return Ok(());
        }
        Err(UpdateError::NoSuchRef { repository: self.root.clone(), remote: masked(remote), name: commit.to_owned() }
            .into())
    }

    fn fetch(&self, remote: &str, names: &[String]) -> Result<(), Error> {
        let fetch = self.exchanging()?.args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]);
        // Without a map, git would also move the refs of the remote's branches.
        let fetch =
            fetch.args(["--no-write-fetch-head", "--no-auto-maintenance", "--refmap=", "--", remote]).args(names);
        self.remote(remote, self.git.run(self.cx, "fetch", self.beside(fetch))).map(drop)
    }

    /// Whether a commit is here, or in what was fetched.
    pub(super) fn has(&self, commit: &str) -> Result<bool, Error> {
        Ok(self.git.has_commit(self.cx, self.beside(self.git.reading()), commit)?)
    }

    /// Whether everything in one commit is in another.
    pub(super) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, Error> {
        let look = self.beside(self.git.reading().args(["merge-base", "--is-ancestor", old, new]));
        Ok(self.git.answer(self.cx, "compare commits", look, &[1])?.is_some())
    }

    /// How many commits one has that the other lacks.
    pub(super) fn count(&self, from: &str, to: &str) -> Result<u64, Error> {
        let text = self.ask("count commits", &["rev-list", "--count", &format!("{from}..{to}")])?;
        let answer = text.trim().to_owned();
        answer.parse().map_err(|_| UpdateError::BadCount { repository: self.root.clone(), answer }.into())
    }

    /// Whether a patch fits a commit, or its change is there.
    pub(super) fn fits(&self, commit: &str, patch: &Patch) -> Result<bool, Error> {
        let index = self.scratch.path().join("index");
        let with = || self.beside(self.git.writing()).env("GIT_INDEX_FILE", &index);
        self.git.run(self.cx, "tell whether the managed patches fit", with().args(["read-tree", commit]))?;
        let check =
            |how: &[&str]| patches::passes(self.cx, (&self.root, with()), how, &[patch]).map(|output| output.success());
        Ok(check(&["--cached", "--check"])? || check(&["--cached", "--check", "--reverse"])?)
    }

    /// What a command that only looks prints, with the new objects in view.
    pub(super) fn ask(&self, action: &'static str, args: &[&str]) -> Result<String, Error> {
        Ok(self.git.run(self.cx, action, self.looking(args))?.stdout.text().into_owned())
    }

    /// Such a command.
    pub(super) fn looking(&self, args: &[&str]) -> Invocation {
        self.beside(self.git.reading().args(args)).capture_limit(LARGEST_LIST)
    }

    /// What is asked for a remote.
    fn asked<'b>(&'b self, remote: &'b str) -> &'b str {
        self.moved_to.as_deref().unwrap_or(remote)
    }

    /// Git that asks it. An address that somebody pushed may lead to fewer places than one that the user has typed.
    fn exchanging(&self) -> Result<Invocation, Error> {
        let git = self.git.exchanging(self.cx)?;
        Ok(if self.moved_to.is_some() { git.env("GIT_PROTOCOL_FROM_USER", "0") } else { git })
    }

    fn beside(&self, git: Invocation) -> Invocation {
        git.env("GIT_OBJECT_DIRECTORY", self.scratch.path()).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.objects)
    }

    fn remote(&self, remote: &str, result: Result<pto_process::Output, pto_checkout::Error>) -> Result<String, Error> {
        let failed =
            |source| UpdateError::Remote { repository: self.root.clone(), remote: masked(remote), source }.into();
        result.map(|output| output.stdout.text().into_owned()).map_err(failed)
    }
}
