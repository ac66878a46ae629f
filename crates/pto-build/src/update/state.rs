//! States in which a repository is left alone, and how the user gets out of each.

use std::fmt;
use std::path::PathBuf;

use pto_checkout::{Checkout, Operation};
use pto_process::masked;
use serde::Serialize;

use crate::error::word;

/// How many paths of a list are shown.
const SHOWN: usize = 5;
/// Digits of a commit that are shown.
const SHORT: usize = 12;

/// A repository that cannot be updated as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// Its top level.
    pub repository: PathBuf,
    /// Why.
    pub state: State,
}

/// Why a repository is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum State {
    /// No branch is checked out.
    Detached {
        /// The commit.
        head: String,
        /// What git is told to get to a branch.
        switch: String,
    },
    /// There is no commit yet.
    Unborn {
        /// What git is told to get to one.
        switch: String,
    },
    /// The branch follows nothing.
    NoUpstream {
        /// The branch.
        branch: String,
        /// What it could follow, if there is anything.
        offered: Option<String>,
    },
    /// What the branch follows is a branch of this repository, or gone.
    NoRemote {
        /// The branch.
        branch: String,
        /// What it follows.
        upstream: String,
        /// What it could follow, if there is anything.
        offered: Option<String>,
    },
    /// Both sides have commits that the other lacks.
    Diverged {
        /// The branch.
        branch: String,
        /// What it follows.
        upstream: String,
    },
    /// Something was begun and not ended.
    Unfinished {
        /// What.
        operation: Operation,
    },
    /// Files with conflicts.
    Conflicted {
        /// Paths.
        paths: Vec<String>,
    },
    /// Changes that are in no commit.
    Changed {
        /// Paths in the index, then those in the work tree.
        paths: Vec<String>,
        /// Those that are announced to git and not given to it, which it does not put away.
        announced: Vec<String>,
    },
    /// The managed patches do not fit the commit that the runtime would go to.
    Unfit {
        /// That commit.
        to: String,
    },
    /// Files that no commit knows, where the update has files.
    InTheWay {
        /// Paths.
        paths: Vec<String>,
    },
    /// Edits of files that git was told not to look at, and that the update changes.
    Hidden {
        /// Paths.
        paths: Vec<String>,
    },
    /// Somebody's git holds the index, or died with it.
    Locked {
        /// The lock.
        lock: PathBuf,
    },
    /// The update has a submodule whose name or path leads out of the repository.
    BadSubmodule {
        /// Its name.
        name: String,
        /// The commit that has it.
        commit: String,
    },
    /// A submodule is at a commit that its parent does not record.
    Drifted {
        /// Where it is.
        head: String,
        /// What is recorded.
        recorded: String,
        /// The parent's top level.
        parent: PathBuf,
        /// Where it is below that.
        path: String,
    },
    /// A submodule's remote, which its user has named, does not have the commit that is recorded.
    Elsewhere {
        /// That commit.
        commit: String,
        /// The remote's address.
        remote: String,
        /// The one that the update has for it.
        listed: String,
    },
    /// A submodule has a branch checked out, which would be left.
    OnBranch {
        /// The branch.
        branch: String,
    },
    /// A submodule has commits that no remote has.
    OwnCommits {
        /// Where it is.
        head: String,
    },
}

impl Blocked {
    pub(super) fn new(checkout: &Checkout, state: State) -> Self {
        Self { repository: checkout.root().to_path_buf(), state }
    }

    /// The commands that get the repository out of its state, of which the user has to choose.
    pub fn remedy(&self) -> String {
        let git = format!("git -C {}", word(&self.repository));
        let each =
            |paths: &[String]| paths.iter().take(SHOWN).map(|path| self.repository.join(path)).collect::<Vec<_>>();
        match &self.state {
            State::Detached { switch, .. } | State::Unborn { switch } => format!("`{git} {switch}`"),
            State::NoUpstream { branch, offered } | State::NoRemote { branch, offered, .. } => match offered {
                Some(offered) => format!("`{git} branch --set-upstream-to={} {}`", quoted(offered), quoted(branch)),
                None => format!("`{git} push --set-upstream origin {}`", quoted(branch)),
            },
            State::Diverged { upstream, .. } => {
                format!(
                    "`{git} fetch`, `{git} log --oneline --left-right HEAD...{upstream}`, then `{git} rebase {upstream}`"
                )
            }
            State::Unfinished { operation } => {
                let below = |command: String| format!("`{git}{}`", command.trim_start_matches("git"));
                let both = operation.go_on().into_iter().chain([operation.give_up()]).map(below);
                both.collect::<Vec<_>>().join(" or ")
            }
            State::Conflicted { .. } => {
                format!("see them with `{git} status`, resolve each, then `{git} commit --all`")
            }
            State::Changed { announced, .. } if announced.is_empty() => {
                format!("`{git} commit --all` or `{git} stash`")
            }
            State::Changed { announced, .. } => {
                let paths: Vec<String> = announced.iter().map(|path| quoted(path)).collect();
                format!("`{git} commit --all`, or `{git} add -- {}` and `{git} stash`", paths.join(" "))
            }
            State::Unfit { .. } => format!(
                "`{git} stash` takes them off; then update, and `cargo xtask build --patches DIR` with patches for that commit"
            ),
            State::InTheWay { paths } => {
                let moves = each(paths).into_iter().map(|path| format!("`mv {0} {0}.mine`", word(&path)));
                moves.collect::<Vec<_>>().join(", ")
            }
            State::Hidden { paths } => {
                let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
                let show =
                    format!("{git} update-index --no-assume-unchanged --no-skip-worktree -- {}", paths.join(" "));
                format!("`{show}`, then `{git} stash`")
            }
            State::Locked { lock } => format!("let that git end; if none is at work, `rm {}`", word(lock)),
            State::BadSubmodule { commit, .. } => {
                format!("`{git} fetch`, then see who has added it: `{git} log -1 {} -- .gitmodules`", short(commit))
            }
            // What is recorded may have to be fetched, and a submodule that was cloned by hand is none for git yet.
            State::Drifted { parent, path, .. } => format!(
                "`git -C {} submodule update --init --checkout -- {}`, or keep it with `--remote-submodules`",
                word(parent),
                quoted(path)
            ),
            State::Elsewhere { listed, .. } => format!("`{git} remote set-url origin {}`", quoted(listed)),
            State::OnBranch { .. } => format!("`{git} switch --detach`"),
            State::OwnCommits { .. } => format!("keep them with `{git} push origin HEAD:refs/heads/NAME`"),
        }
    }
}

impl fmt::Display for State {
    /// Reads well after the repository's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detached { head, .. } => write!(f, "has no branch checked out, it is at {}", short(head)),
            Self::Unborn { .. } => f.write_str("has no commit yet"),
            Self::NoUpstream { branch, .. } => write!(f, "is on `{branch}`, which follows no branch of a remote"),
            Self::NoRemote { branch, upstream, .. } => {
                write!(
                    f,
                    "is on `{branch}`, which follows `{upstream}`, and that is no branch of a remote that is there"
                )
            }
            Self::Diverged { branch, upstream } => {
                write!(f, "is on `{branch}`, which has commits that `{upstream}` lacks, and lacks some of its")
            }
            Self::Unfinished { operation: Operation::Am } => f.write_str("is in the middle of `git am`"),
            Self::Unfinished { operation } => write!(f, "is in the middle of a {}", operation.name()),
            Self::Conflicted { paths } => write!(f, "has conflicts in {}", shown(paths)),
            Self::Changed { paths, .. } => write!(f, "has changes that are in no commit: {}", shown(paths)),
            Self::Unfit { to } => write!(f, "has managed patches that do not fit {}, where it would go", short(to)),
            Self::InTheWay { paths } => write!(f, "has files of its own where the update has some: {}", shown(paths)),
            Self::Hidden { paths } => {
                write!(f, "has edits that git was told not to look at, and the update changes these: {}", shown(paths))
            }
            Self::Locked { lock } => write!(f, "is locked by a git: there is `{}`", lock.display()),
            Self::BadSubmodule { name, commit } => {
                write!(f, "would get a submodule `{name}` with {}, which leads out of the repository", short(commit))
            }
            Self::Drifted { head, recorded, .. } => {
                write!(f, "is at {}, its parent records {}", short(head), short(recorded))
            }
            Self::Elsewhere { commit, remote, listed } => write!(
                f,
                "has the remote `{}`, where {} is not; the update has `{}` for it",
                masked(remote),
                short(commit),
                masked(listed)
            ),
            Self::OnBranch { branch } => {
                write!(f, "is a submodule that has to move, and has `{branch}` checked out")
            }
            Self::OwnCommits { head } => write!(f, "is at {}, which no remote has", short(head)),
        }
    }
}

pub(super) fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

fn quoted(word: &str) -> String {
    pto_process::shell_word(word)
}

fn shown(paths: &[String]) -> String {
    let list: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    list.join(", ") + &more
}
