//! What an update would do to each repository, found out without changing any.

use std::path::{Path, PathBuf};

use pto_checkout::Checkout;
use pto_context::Context;
use serde::{Deserialize, Serialize};

use super::arriving::Arriving;
use super::incoming::Incoming;
use super::managed::Managed;
use super::standing;
use super::state::{Blocked, State};
use super::ways::Ways;
use crate::build::RUNTIME;
use crate::error::{Error, UpdateError};

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
    /// The address that its remote gets first, where a submodule was moved to another.
    #[serde(default)]
    pub moved_to: Option<String>,
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
        /// Whether that was there before, as after `git submodule deinit`: it can hold commits that nobody else has.
        #[serde(default = "assumed")]
        had_git_dir: bool,
    },
}

/// Where nothing is written down, nothing is deleted.
fn assumed() -> bool {
    true
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
    /// What PyPTO's checkout gets.
    pub(super) arriving: Option<Arriving>,
}

impl Planner<'_> {
    /// Plans one repository. `None` if it is blocked, which is noted.
    pub(super) fn repository(&mut self, name: &'static str, dir: &Path) -> Result<Option<Repository>, Error> {
        let checkout = Checkout::open(self.cx, dir)?;
        let noted = self.blocked.len();
        self.own_state(&checkout)?;
        for inside in checkout.below() {
            if name == PYPTO && inside.root() == checkout.root().join(RUNTIME) && !inside.modified.is_empty() {
                self.managed = Managed::of(self.cx, self.home, inside)?;
            }
            if self.managed.as_ref().is_none_or(|managed| managed.root != inside.root()) {
                self.changes(inside)?;
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
        if name == PYPTO && !moves.is_empty() {
            self.arriving = Some(Arriving::of(&incoming, &to)?);
        }
        self.submodules(&checkout, &incoming, &to, &mut moves)?;
        let root = checkout.root().to_path_buf();
        let repository = Repository { name, root, branch: branch.clone(), upstream: upstream.name.clone(), moves };
        Ok((self.blocked.len() == noted).then_some(repository))
    }

    /// What the repository's own state forbids.
    fn own_state(&mut self, checkout: &Checkout) -> Result<(), Error> {
        // Without a commit everything is a change.
        if checkout.head.is_some() && self.changes(checkout)? {
            return Ok(());
        }
        if let Some(state) = standing::of_branch(self.cx, checkout)? {
            self.block(checkout, state);
        }
        Ok(())
    }

    /// What is in no commit, or was begun and not ended. Whether there is anything.
    fn changes(&mut self, checkout: &Checkout) -> Result<bool, Error> {
        // A submodule that was moved or changed inside is looked at by itself.
        let own = |paths: &[String]| -> Vec<String> {
            paths.iter().filter(|path| checkout.submodule(path).is_none()).cloned().collect()
        };
        let changed = [checkout.staged.clone(), own(&checkout.modified)].concat();
        let state = match () {
            () if let lock = checkout.dirs.git_dir.join("index.lock")
                && lock.exists() =>
            {
                State::Locked { lock }
            }
            () if let Some(operation) = checkout.operation => State::Unfinished { operation },
            () if !checkout.conflicted.is_empty() => State::Conflicted { paths: checkout.conflicted.clone() },
            () if !changed.is_empty() => {
                State::Changed { announced: self.ways(checkout)?.announced()?, paths: changed }
            }
            () => return Ok(false),
        };
        self.block(checkout, state);
        Ok(true)
    }

    fn block_without_remote(&mut self, checkout: &Checkout, branch: &str, upstream: &str) -> Result<(), Error> {
        let state = State::no_remote(&self.ways(checkout)?, branch, upstream);
        self.block(checkout, state);
        Ok(())
    }

    pub(super) fn ways(&self, checkout: &Checkout) -> Result<Ways<'_>, Error> {
        Ways::of(self.cx, checkout)
    }

    /// Where the branch goes: its upstream's commit, or where it is if it has all of that. `None` if it cannot.
    fn fast_forward(
        &mut self,
        checkout: &Checkout,
        incoming: &Incoming<'_>,
        branch: &str,
        upstream: &str,
        moves: &mut Vec<Move>,
    ) -> Result<Option<String>, Error> {
        let head = checkout.head.clone().unwrap_or_default();
        let Some((remote, merge)) = self.ways(checkout)?.remote_of(branch)? else {
            self.block_without_remote(checkout, branch, upstream)?;
            return Ok(None);
        };
        let tip = match incoming.tip(&remote, &merge) {
            // It was deleted there, and what was fetched of it once is still here.
            Err(Error::Update(UpdateError::NoSuchRef { .. })) => {
                self.block_without_remote(checkout, branch, upstream)?;
                return Ok(None);
            }
            tip => tip?,
        };
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
            moved_to: None,
        });
        Ok(Some(tip))
    }

    pub(super) fn block(&mut self, checkout: &Checkout, state: State) {
        self.blocked.push(Blocked::new(checkout, state));
    }
}
