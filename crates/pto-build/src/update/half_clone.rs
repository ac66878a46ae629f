//! A clone of a submodule that did not get to its end is made again, from what was there before it began.
//!
//! What was there before, and what somebody did since, is never deleted.

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Git, GitDirs};
use pto_context::Context;
use pto_process::Invocation;

use super::journal::{remove_locks, remove_locks_in};
use super::plan::{How, Move};
use crate::error::Error;

/// A repository with its work tree, as far as it is there.
struct Begun<'a> {
    cx: &'a Context,
    /// In the parent.
    git: &'a Git,
    root: PathBuf,
    to: String,
    git_dir: PathBuf,
    /// Whether its commits stay, whatever becomes of the work tree.
    stays: bool,
}

/// Removes what a clone has left that did not end.
pub(super) fn forget(cx: &Context, unfinished: &Move) -> Result<(), Error> {
    let How::Clone { parent, path, git_dir, had_git_dir } = &unfinished.how else { return Ok(()) };
    if !parent.join(".git").exists() {
        return Ok(());
    }
    let is_whole = Checkout::open(cx, &unfinished.root).is_ok_and(|found| {
        let is_there = found.head.as_deref() == Some(&unfinished.to) && found.uninitialised().is_empty();
        found.root().ends_with(path) && is_there && !found.is_dirty()
    });
    let git = Git::at(cx, parent)?;
    remove_locks(&git)?;
    let modules = GitDirs::find(parent)?.common_dir.join("modules");
    if git_dir.symlink_metadata().is_ok() && !lies_in(git_dir, &modules) {
        // No repository of a submodule's, whatever was written down.
        return Ok(());
    }
    remove_locks_in(&unfinished.root, [git_dir, git_dir])?;
    let (root, to) = (unfinished.root.clone(), unfinished.to.clone());
    let begun = Begun { cx, git: &git, root, to, git_dir: git_dir.clone(), stays: *had_git_dir };
    if is_whole || begun.is_somebodys()? {
        return Ok(());
    }
    if lies_in(&begun.root, parent) {
        // The directory itself can have been there, empty, and a repository that was there counts on it.
        let entries = std::fs::read_dir(&begun.root).into_iter().flatten().flatten().map(|entry| entry.path());
        begun.remove(entries.collect())?;
    }
    if !had_git_dir && lies_in(git_dir, &modules) {
        begun.remove(vec![git_dir.clone()])?;
    }
    Ok(())
}

impl Begun<'_> {
    /// Whether somebody has worked in it: there are commits that no remote has, or files that are not the clone's.
    fn is_somebodys(&self) -> Result<bool, Error> {
        let own = ["rev-list", "--max-count=1", "HEAD", "--branches", "--tags", "--not", "--remotes"];
        // A repository that git cannot read has nothing in it yet.
        let commits = self.ask(&own).unwrap_or_default();
        if !self.stays && !commits.trim().is_empty() {
            return Ok(true);
        }
        let mut open = vec![self.root.clone()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                let below = path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned();
                let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
                let is_somebodys = match () {
                    () if below == ".git" => false,
                    () if is_dir && path.join(".git").exists() => self.below(path, &below).is_somebodys()?,
                    () if is_dir => {
                        open.push(path);
                        false
                    }
                    () => !self.is_the_clones(&path, &below)?,
                };
                if is_somebodys {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A submodule of its own.
    fn below(&self, root: PathBuf, path: &str) -> Self {
        let to = self.ask(&["rev-parse", &format!("{}:{path}", self.to)]).unwrap_or_default().trim().to_owned();
        let git_dir = GitDirs::find(&root).map_or_else(|_| root.join(".git"), |dirs| dirs.git_dir);
        Self { cx: self.cx, git: self.git, root, to, git_dir, stays: self.stays }
    }

    /// Whether a file is what the commit has there, or a beginning of it.
    fn is_the_clones(&self, path: &Path, below: &str) -> Result<bool, Error> {
        let found = match fs_err::read_link(path) {
            Ok(target) => Ok(target.into_os_string().into_encoded_bytes()),
            Err(_) => fs_err::read(path),
        };
        let failed = |source| pto_store::Error::io("cannot look at a file of an unfinished clone", source);
        let found = found.map_err(failed)?;
        let show = ["cat-file", "--filters", &format!("{}:{below}", self.to)];
        let new = self.git.run(self.cx, "read a file of a commit", self.inside(&show).capture_limit(usize::MAX));
        Ok(new.is_ok_and(|new| new.stdout.bytes().starts_with(&found)))
    }

    fn ask(&self, args: &[&str]) -> Result<String, pto_checkout::Error> {
        Ok(self.git.run(self.cx, "look into an unfinished clone", self.inside(args))?.stdout.text().into_owned())
    }

    /// A command that looks into the repository, whether or not the work tree that it names is there.
    fn inside(&self, args: &[&str]) -> Invocation {
        self.git.reading().arg("--git-dir").arg(&self.git_dir).args(["--work-tree", "."]).args(args)
    }

    /// Removes files and directories with the rights of the checkout's owner.
    fn remove(&self, paths: Vec<PathBuf>) -> Result<(), Error> {
        let remove = self.git.run_as().command("rm").args(["-rf", "--"]).args(paths);
        self.git.run(self.cx, "remove an unfinished clone", remove)?;
        Ok(())
    }
}

/// Whether a directory is below another, links resolved.
fn lies_in(dir: &Path, base: &Path) -> bool {
    let (Ok(dir), Ok(base)) = (dir.canonicalize(), base.canonicalize()) else { return false };
    dir != base && dir.starts_with(base)
}
