//! A checkout and its submodules, as git shows them.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::git::{GitStatus, parse_status};
use serde::Serialize;

use crate::discover::GitDirs;
use crate::error::Error;
use crate::git::Git;
use crate::operation::Operation;
use crate::owner::Owner;
use crate::submodule::{Links, Submodule};

/// A work tree with all that is known of it. Paths of changes are below its top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkout {
    /// Top level and repository.
    #[serde(flatten)]
    pub dirs: GitDirs,
    /// The checkout that the repository was made with; this one, unless it is a linked worktree. `None` where that is a
    /// bare repository.
    pub primary: Option<PathBuf>,
    /// Who owns the top level.
    pub owner: Owner,
    /// The commit; `None` where there is none yet.
    pub head: Option<String>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// What the branch follows.
    pub upstream: Option<Upstream>,
    /// What somebody began here and has not ended.
    pub operation: Option<Operation>,
    /// In the index, other than in the commit.
    pub staged: Vec<String>,
    /// In the work tree, other than in the index.
    pub modified: Vec<String>,
    /// Known to no commit and not ignored.
    pub untracked: Vec<String>,
    /// Not merged.
    pub conflicted: Vec<String>,
    /// In the order of the index.
    pub submodules: Vec<Submodule>,
}

/// What a branch follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Upstream {
    /// `origin/main`.
    pub name: String,
    /// How the branch stands to it, by what was fetched last.
    pub tracking: Tracking,
}

/// How a branch stands to what it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Tracking {
    /// Both are at the same commit.
    Same,
    /// Only here there are commits that the other lacks.
    Ahead {
        /// How many.
        commits: u64,
    },
    /// Only there.
    Behind {
        /// How many.
        commits: u64,
    },
    /// Both have commits that the other lacks.
    Diverged {
        /// Here.
        ahead: u64,
        /// There.
        behind: u64,
    },
    /// The upstream is no longer there.
    Gone,
}

impl Checkout {
    /// The checkout that holds a directory, with its submodules and theirs. Only looks.
    ///
    /// # Errors
    /// It is none, or git cannot tell.
    pub fn open(cx: &Context, dir: impl AsRef<Path>) -> Result<Self, Error> {
        let dirs = GitDirs::find(&cx.cwd().join(dir))?;
        let git = Git::at(cx, &dirs.root)?;
        let links = Links::read(cx, &git)?;
        Self::read(cx, dirs, &links)
    }

    /// Git in this checkout; it trusts the submodules too.
    ///
    /// # Errors
    /// The checkout is gone.
    pub fn git(&self, cx: &Context) -> Result<Git, Error> {
        Git::at(cx, &self.dirs.root)?.trusting(self.below().map(|inner| &inner.dirs.root))
    }

    /// The top level.
    pub fn root(&self) -> &Path {
        &self.dirs.root
    }

    /// Whether this is a worktree that was added to another checkout.
    pub fn is_linked(&self) -> bool {
        self.dirs.is_linked()
    }

    /// Whether no branch is checked out.
    pub fn is_detached(&self) -> bool {
        self.branch.is_none()
    }

    /// Whether there is anything that no commit holds, in submodules too.
    pub fn is_dirty(&self) -> bool {
        [&self.staged, &self.modified, &self.untracked, &self.conflicted].iter().any(|paths| !paths.is_empty())
    }

    /// The submodule at a path below the top level.
    pub fn submodule(&self, path: &str) -> Option<&Submodule> {
        self.submodules.iter().find(|submodule| submodule.path == path)
    }

    /// All submodules that were initialised, nested ones after their parents.
    pub fn below(&self) -> impl Iterator<Item = &Self> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.into_iter()
    }

    /// Paths below the top level of the submodules that were not initialised, nested ones included.
    pub fn uninitialised(&self) -> Vec<String> {
        let below = |submodule: &Submodule| match &submodule.checkout {
            None => vec![submodule.path.clone()],
            Some(inside) => inside.uninitialised().iter().map(|path| format!("{}/{path}", submodule.path)).collect(),
        };
        self.submodules.iter().flat_map(below).collect()
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Self>) {
        for inside in self.submodules.iter().filter_map(|submodule| submodule.checkout.as_ref()) {
            found.push(inside);
            inside.collect(found);
        }
    }

    fn read(cx: &Context, dirs: GitDirs, links: &Links) -> Result<Self, Error> {
        let git = Git::at(cx, &dirs.root)?.trusting(links.roots(&dirs.root))?;
        let status = status(cx, &git)?;
        let below = |(link, inside): &(_, Option<Links>)| {
            let pto_platform::git::Gitlink { path, commit } = link;
            let open = |inside| Self::read(cx, GitDirs::at(dirs.root.join(path))?, inside);
            let checkout = inside.as_ref().map(open).transpose()?;
            Ok(Submodule { path: path.clone(), recorded: commit.clone(), checkout })
        };
        Ok(Self {
            submodules: links.links.iter().map(below).collect::<Result<_, Error>>()?,
            primary: dirs.primary(),
            owner: Owner::of(&dirs.root)?,
            operation: Operation::of(&dirs.git_dir),
            head: status.head,
            branch: status.branch,
            upstream: status
                .upstream
                .map(|upstream| Upstream { name: upstream.name, tracking: tracking(upstream.ahead_behind) }),
            staged: status.staged,
            modified: status.modified,
            untracked: status.untracked,
            conflicted: status.conflicted,
            dirs,
        })
    }
}

fn status(cx: &Context, git: &Git) -> Result<GitStatus, Error> {
    let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=none"];
    Ok(parse_status(&git.ask(cx, "tell the state of the work tree", &args)?))
}

fn tracking(ahead_behind: Option<(u64, u64)>) -> Tracking {
    match ahead_behind {
        None => Tracking::Gone,
        Some((0, 0)) => Tracking::Same,
        Some((commits, 0)) => Tracking::Ahead { commits },
        Some((0, commits)) => Tracking::Behind { commits },
        Some((ahead, behind)) => Tracking::Diverged { ahead, behind },
    }
}
