//! What an update would do to each repository, found out without changing any.

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Tracking};
use pto_context::Context;
use serde::{Deserialize, Serialize};

use super::error::UpdateError;
use super::incoming::Incoming;
use super::managed::Managed;
use super::state::{Blocked, State};
use crate::build::RUNTIME;

/// The repository that has the runtime.
pub(super) const PYPTO: &str = "pypto";

/// A work tree that goes from one commit to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Its top level.
    pub root: PathBuf,
    /// How.
    pub how: How,
    /// Where it is; `None` where a submodule is not there yet.
    pub from: Option<String>,
    /// Where it goes.
    pub to: String,
    /// How many commits it gets.
    pub commits: Option<u64>,
}

/// How a work tree is moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Its branch is fast-forwarded.
    FastForward,
    /// A submodule without a branch is checked out at another commit.
    Checkout,
    /// A submodule is cloned, with those below it.
    Clone {
        /// The top level of its parent.
        parent: PathBuf,
        /// Where it is below that.
        path: String,
        /// Where git keeps its repository.
        git_dir: PathBuf,
    },
}

/// One repository of the update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repository {
    /// `pypto`, `pypto-lib`.
    pub name: &'static str,
    /// Its top level.
    pub root: PathBuf,
    /// The branch.
    pub branch: String,
    /// What it follows.
    pub upstream: String,
    /// What moves, parents before submodules; none if all is up to date.
    pub moves: Vec<Move>,
}

/// A plan in the making.
pub(super) struct Planner<'a> {
    pub(super) cx: &'a Context,
    pub(super) remote_submodules: bool,
    pub(super) blocked: Vec<Blocked>,
    /// PyPTO's home, whose record says which changes of the runtime are managed.
    pub(super) home: &'a Path,
    /// What the runtime has of them.
    pub(super) managed: Option<Managed>,
}

impl Planner<'_> {
    /// Plans one repository. `None` if it is blocked, which is noted.
    pub(super) fn repository(&mut self, name: &'static str, dir: &Path) -> Result<Option<Repository>, UpdateError> {
        let checkout = Checkout::open(self.cx, dir)?;
        let noted = self.blocked.len();
        self.own_state(&checkout)?;
        for inside in checkout.below() {
            if name == PYPTO && inside.root() == checkout.root().join(RUNTIME) && !inside.modified.is_empty() {
                self.managed = Managed::of(self.cx, self.home, inside)?;
            }
            if self.managed.as_ref().is_none_or(|managed| managed.root != inside.root()) {
                self.changes(inside);
            }
        }
        // What can be seen here is said before a remote is asked.
        let (Some(branch), Some(upstream)) = (&checkout.branch, &checkout.upstream) else { return Ok(None) };
        if self.blocked.len() > noted {
            return Ok(None);
        }
        let mut moves = Vec::new();
        let incoming = Incoming::of(self.cx, &checkout)?;
        let Some(to) = self.fast_forward(&checkout, &incoming, branch, &upstream.name, &mut moves)? else {
            return Ok(None);
        };
        self.submodules(&checkout, &incoming, &to, &mut moves)?;
        let root = checkout.root().to_path_buf();
        let repository = Repository { name, root, branch: branch.clone(), upstream: upstream.name.clone(), moves };
        Ok((self.blocked.len() == noted).then_some(repository))
    }

    /// What the repository's own state forbids.
    fn own_state(&mut self, checkout: &Checkout) -> Result<(), UpdateError> {
        if self.changes(checkout) {
            return Ok(());
        }
        let Some(head) = &checkout.head else {
            self.block(checkout, State::Unborn);
            return Ok(());
        };
        match (&checkout.branch, &checkout.upstream) {
            (None, _) => {
                let branch = self.first_branch(checkout)?;
                self.block(checkout, State::Detached { head: head.clone(), branch });
            }
            (Some(branch), None) => self.block(checkout, State::NoUpstream { branch: branch.clone() }),
            (Some(branch), Some(upstream)) if upstream.tracking == Tracking::Gone => {
                self.block(checkout, State::NoRemote { branch: branch.clone(), upstream: upstream.name.clone() });
            }
            (Some(_), Some(_)) => {}
        }
        Ok(())
    }

    /// What is in no commit, or was begun and not ended. Whether there is anything.
    fn changes(&mut self, checkout: &Checkout) -> bool {
        // A submodule that was moved or changed inside is looked at by itself.
        let own = |paths: &[String]| -> Vec<String> {
            paths.iter().filter(|path| checkout.submodule(path).is_none()).cloned().collect()
        };
        let changed = [checkout.staged.clone(), own(&checkout.modified)].concat();
        let state = match () {
            () if let Some(operation) = checkout.operation => State::Unfinished { operation },
            () if !checkout.conflicted.is_empty() => State::Conflicted { paths: checkout.conflicted.clone() },
            () if !changed.is_empty() => State::Changed { paths: changed },
            () => return false,
        };
        self.block(checkout, state);
        true
    }

    /// The branch to suggest: the one that the remote begins with.
    fn first_branch(&self, checkout: &Checkout) -> Result<String, UpdateError> {
        let git = checkout.git(self.cx)?;
        let said = git.ask(self.cx, "tell the remote's branch", &["rev-parse", "--abbrev-ref", "origin/HEAD"]);
        let named = said.ok().and_then(|text| text.trim().strip_prefix("origin/").map(str::to_owned));
        Ok(named.filter(|name| name != "HEAD").unwrap_or_else(|| "main".to_owned()))
    }

    /// Where the branch goes: its upstream's commit, or where it is if it has all of that. `None` if it cannot.
    fn fast_forward(
        &mut self,
        checkout: &Checkout,
        incoming: &Incoming<'_>,
        branch: &str,
        upstream: &str,
        moves: &mut Vec<Move>,
    ) -> Result<Option<String>, UpdateError> {
        let head = checkout.head.clone().unwrap_or_default();
        let setting = |key: &str| {
            let setting = format!("branch.{branch}.{key}");
            let get = incoming.git().reading().args(["config", "--get", &setting]);
            incoming.git().answer(self.cx, "read its settings", get, &[1])
        };
        let (remote, merge) = match (setting("remote")?, setting("merge")?) {
            (Some(remote), Some(merge)) if remote.trim() != "." => (remote.trim().to_owned(), merge.trim().to_owned()),
            _ => {
                let state = State::NoRemote { branch: branch.to_owned(), upstream: upstream.to_owned() };
                self.block(checkout, state);
                return Ok(None);
            }
        };
        let tip = incoming.tip(&remote, &merge)?;
        incoming.obtain(&remote, &tip)?;
        if incoming.is_ancestor(&tip, &head)? {
            return Ok(Some(head));
        }
        if !incoming.is_ancestor(&head, &tip)? {
            let state = State::Diverged { branch: branch.to_owned(), upstream: upstream.to_owned() };
            self.block(checkout, state);
            return Ok(None);
        }
        self.check_room(checkout, incoming, &head, &tip)?;
        moves.push(Move {
            root: checkout.root().to_path_buf(),
            how: How::FastForward,
            commits: Some(incoming.count(&head, &tip)?),
            from: Some(head),
            to: tip.clone(),
        });
        Ok(Some(tip))
    }

    /// Files of the user's where new files will be: git overwrites those that are ignored without a word.
    pub(super) fn check_room(
        &mut self,
        checkout: &Checkout,
        incoming: &Incoming<'_>,
        from: &str,
        to: &str,
    ) -> Result<(), UpdateError> {
        let added = incoming.ask(
            "compare commits",
            &["diff", "--name-only", "-z", "--no-renames", "--diff-filter=A", "--ignore-submodules=none", from, to],
        )?;
        let is_in_the_way = |path: &&str| {
            let meta = checkout.root().join(path).symlink_metadata();
            meta.is_ok_and(|meta| !meta.is_dir()) || self.has_file_for_a_directory(checkout, path)
        };
        let paths: Vec<String> =
            added.split('\0').filter(|path| !path.is_empty()).filter(is_in_the_way).map(str::to_owned).collect();
        if !paths.is_empty() {
            self.block(checkout, State::InTheWay { paths });
        }
        Ok(())
    }

    /// Whether a directory that a new file needs is a file that no commit knows.
    fn has_file_for_a_directory(&self, checkout: &Checkout, path: &str) -> bool {
        let mut parents = Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        parents.any(|parent| {
            let is_file = checkout.root().join(parent).symlink_metadata().is_ok_and(|meta| !meta.is_dir());
            is_file && checkout.untracked.iter().any(|untracked| Path::new(untracked) == parent)
        })
    }

    pub(super) fn block(&mut self, checkout: &Checkout, state: State) {
        self.blocked.push(Blocked::new(checkout, state));
    }
}
