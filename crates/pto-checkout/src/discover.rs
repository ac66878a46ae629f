//! Where a repository is, found as git finds it, before git is asked: git refuses the trees of other owners until they are
//! named.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;

/// The directories of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GitDirs {
    /// The top level of the work tree, links resolved.
    pub root: PathBuf,
    /// What belongs to this work tree alone: index, HEAD.
    pub git_dir: PathBuf,
    /// What all work trees share: objects, branches. The same directory in a primary checkout.
    pub common_dir: PathBuf,
}

impl GitDirs {
    /// The work tree that holds a directory.
    ///
    /// # Errors
    /// None does, or its `.git` leads nowhere.
    pub fn find(dir: &Path) -> Result<Self, Error> {
        let not_one = || Error::NotACheckout { dir: dir.to_owned() };
        let start = dir.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::NoDirectory { dir: dir.to_owned() },
            _ => Error::Unseen { dir: dir.to_owned(), source: error },
        })?;
        let root = start.ancestors().find(|dir| dir.join(".git").exists() || dir.join(".git").is_symlink());
        Self::at(root.ok_or_else(not_one)?.to_owned())
    }

    /// The work tree whose top level this is, links resolved.
    pub(crate) fn at(root: PathBuf) -> Result<Self, Error> {
        let file = root.join(".git");
        let git_dir = match text(&file)? {
            None => file.clone(),
            Some(text) => root.join(text.strip_prefix("gitdir:").unwrap_or(&text).trim()),
        };
        let resolved = |path: &Path| {
            let dangling = |_| Error::Dangling { file: file.clone(), target: path.to_owned() };
            path.canonicalize().map_err(dangling)
        };
        let git_dir = resolved(&git_dir)?;
        let common_dir = match text(&git_dir.join("commondir"))? {
            None => git_dir.clone(),
            Some(text) => resolved(&git_dir.join(text.trim()))?,
        };
        Ok(Self { root, git_dir, common_dir })
    }

    /// Whether this is a worktree that was added to another checkout.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// The checkout that the repository was made with: this one, or the one that a linked worktree was added to; `None`
    /// where a bare repository has worktrees.
    pub fn primary(&self) -> Option<PathBuf> {
        if !self.is_linked() {
            return Some(self.root.clone());
        }
        if self.common_dir.file_name().is_some_and(|name| name == ".git") {
            return self.common_dir.parent().map(Path::to_owned);
        }
        // The repository of a submodule lies in its parent's, and says where its work tree is.
        let config = fs_err::read_to_string(self.common_dir.join("config")).ok()?;
        let named = config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='))?;
        self.common_dir.join(named.trim()).canonicalize().ok()
    }
}

/// What a file holds; `None` if it is a directory, or not there.
fn text(path: &Path) -> Result<Option<String>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    fs_err::read_to_string(path).map(Some).map_err(Error::io("cannot read where the repository is"))
}
