//! Repositories are brought up to date: each on its own branch, forwards only, and none if one of them cannot be.
//!
//! No branch is left, nothing is reset, and what is in no commit is not touched. A plan is made first, without changing
//! anything: what a remote has is looked at beside the repository. Then everything is carried out in order.

mod arriving;
mod continuation;
mod gitmodules;
mod half_clone;
mod incoming;
mod journal;
mod managed;
mod plan;
mod room;
mod standing;
mod state;
mod submodules;
mod ways;

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Git, GitDirs};
use pto_context::{Context, Event};
use serde::Serialize;

pub use arriving::Arriving;
pub use continuation::{Passed, continuation};
pub use plan::{How, Move, Repository};
pub use standing::branch_standing;
pub use state::{Blocked, State};

use crate::build::Turn;
use crate::error::{Error, SourceError, UpdateError};
use crate::home::{Home, checkout_of};
use journal::Journal;
use managed::Managed;
use plan::Planner;

/// What to update, and how.
#[derive(Debug, Clone, Default)]
pub struct PullOptions {
    /// The home, whose `dist-state.json` says which changes of the runtime are managed; without it `PYPTO_HOME`, else
    /// `/opt/pypto`.
    pub home: Option<PathBuf>,
    /// The checkout; without it `PYPTO_SRC`, where the images keep it, or the working directory.
    pub src: Option<PathBuf>,
    /// Follow the remotes of submodules, and not what their parents record.
    pub remote_submodules: bool,
    /// The proxy for HTTP and HTTPS; without it, what the environment says.
    pub proxy: Option<String>,
}

/// What was, or would be, done to the repositories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pull {
    /// Each that is there.
    pub repositories: Vec<Repository>,
    /// What PyPTO's checkout has afterwards; `None` if it stays where it is.
    pub arriving: Option<Arriving>,
}

/// The repositories of an update.
struct Places(Vec<(&'static str, GitDirs)>);

impl Places {
    fn of(cx: &Context, options: &PullOptions) -> Result<Self, Error> {
        let src = checkout_of(cx, options.src.as_deref()).ok_or(SourceError::NoCheckout)?;
        let named = cx.var_os("PYPTO_LIB_SRC").map(|path| cx.cwd().join(path));
        let beside = || src.canonicalize().ok()?.parent().map(|parent| parent.join("pypto-lib"));
        let lib = named.or_else(beside).filter(|dir| dir.join(".git").exists());
        let repositories = [(plan::PYPTO, Some(src)), ("pypto-lib", lib)];
        let found = repositories.into_iter().filter_map(|(name, dir)| Some((name, dir?)));
        Ok(Self(found.map(|(name, dir)| Ok((name, GitDirs::find(&dir)?))).collect::<Result<_, Error>>()?))
    }

    /// Keeps everybody away who builds or updates one of the repositories. By name, so that no two wait for each other.
    fn turns(&self, cx: &Context) -> Result<Vec<Turn>, Error> {
        let mut roots: Vec<&Path> = self.0.iter().map(|(_, dirs)| dirs.root.as_path()).collect();
        roots.sort_unstable();
        roots.dedup();
        let take = |root: &Path| Turn::take(cx, root, &format!("work on `{}`", root.display()));
        roots.into_iter().map(take).collect::<Result<_, _>>()
    }

    /// Writes down in each repository what is about to be done there.
    fn begin(&self, cx: &Context, pull: &Pull) -> Result<(), Error> {
        for ((_, dirs), repository) in self.0.iter().zip(&pull.repositories) {
            Journal::of(dirs).begin(cx, &repository.moves)?;
        }
        Ok(())
    }

    fn journals(&self) -> impl Iterator<Item = Journal> {
        self.0.iter().map(|(_, dirs)| Journal::of(dirs))
    }
}

/// Says what would move, and changes nothing.
///
/// # Errors
/// See [`Error`].
pub fn plan_pull(cx: &Context, options: &PullOptions) -> Result<Pull, Error> {
    let places = Places::of(cx, options)?;
    for journal in places.journals() {
        if !journal.unfinished()?.is_empty() {
            let message = "an earlier update was ended in the middle; the next one clears that up first";
            cx.emit(Event::Warning { message: message.to_owned() });
        }
    }
    Ok(planned(&with_proxy(cx, options), options, &places)?.0)
}

/// Brings every repository up to date, or none.
///
/// # Errors
/// See [`Error`]. With [`UpdateError::Blocked`] and while remotes are asked, nothing was changed.
pub fn pull(cx: &Context, options: &PullOptions) -> Result<Pull, Error> {
    let places = Places::of(cx, options)?;
    let cx = &with_proxy(cx, options);
    let _turns = places.turns(cx)?;
    let home = Home::of(cx, options.home.as_deref());
    let clear_up = || places.journals().try_for_each(|journal| journal.clear_up(cx, home.root()));
    clear_up()?;
    let (pull, managed) = planned(cx, options, &places)?;
    let moves: Vec<Move> = pull.repositories.iter().flat_map(|repository| repository.moves.clone()).collect();
    if moves.is_empty() {
        return Ok(pull);
    }
    let done = places
        .begin(cx, &pull)
        .and_then(|()| moves.iter().try_for_each(|one| perform(cx, one, home.root(), managed.as_ref())));
    if done.is_err() {
        // A full disk stops git amid its files. What cannot be put back now is left to the next update.
        let _ = clear_up();
    } else {
        places.journals().for_each(|journal| journal.end(cx));
    }
    done.map(|()| pull)
}

/// The plan, and what of the runtime is managed.
fn planned(cx: &Context, options: &PullOptions, places: &Places) -> Result<(Pull, Option<Managed>), Error> {
    let home = Home::of(cx, options.home.as_deref());
    let remote_submodules = options.remote_submodules;
    let mut planner =
        Planner { cx, home: home.root(), remote_submodules, blocked: Vec::new(), managed: None, arriving: None };
    let mut repositories = Vec::new();
    for (name, dirs) in &places.0 {
        repositories.extend(planner.repository(name, &dirs.root)?);
    }
    if planner.blocked.is_empty() {
        Ok((Pull { repositories, arriving: planner.arriving }, planner.managed))
    } else {
        Err(UpdateError::Blocked(planner.blocked).into())
    }
}

fn perform(cx: &Context, one: &Move, home: &Path, managed: Option<&Managed>) -> Result<(), Error> {
    let task = format!("update:{}", one.root.display());
    let message = format!("Updating `{}` to {}", one.root.display(), state::short(&one.to));
    cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
    match &one.how {
        How::FastForward => {
            let git = Git::at(cx, &one.root)?;
            git.fetch(cx)?;
            git.fast_forward(cx, &one.to)?;
        }
        How::Checkout => {
            let git = Git::at(cx, &one.root)?;
            if one.moved_to.is_some() {
                follow_moved(cx, &one.root)?;
            }
            obtain(cx, &git, &one.to)?;
            let checkout = git.writing().args(["checkout", "--quiet", "--detach", &one.to]);
            let managed = managed.filter(|managed| managed.root == one.root);
            managed.map_or(Ok(()), |managed| managed.take_off(cx, &git))?;
            git.run(cx, "check out the recorded commit", checkout)?;
            managed.map_or(Ok(()), |managed| managed.put_on(cx, home))?;
        }
        How::Clone { parent, path, .. } => {
            // It sees the new submodule only now: the parent has moved.
            let git = Checkout::open(cx, parent)?.git(cx)?;
            let clone =
                git.exchanging(cx)?.args(["submodule", "update", "--quiet", "--init", "--recursive", "--", path]);
            git.run(cx, "clone a submodule", clone)?;
        }
    }
    let message = format!("`{}` is at {}", one.root.display(), state::short(&one.to));
    cx.emit(Event::Finished { task, message });
    Ok(())
}

/// Has a submodule's remote be where its parent, which has moved already, says that it is.
fn follow_moved(cx: &Context, root: &Path) -> Result<(), Error> {
    let parent = GitDirs::find(root.parent().unwrap_or(root))?.root;
    let git = Checkout::open(cx, &parent)?.git(cx)?;
    let sync = git.writing().args(["submodule", "--quiet", "sync", "--"]).arg(root);
    git.run(cx, "tell a submodule where its remote has moved", sync)?;
    Ok(())
}

/// Fetches a commit into a submodule, if it is not there: with the branches, else by its own name.
fn obtain(cx: &Context, git: &Git, commit: &str) -> Result<(), Error> {
    let is_here = || git.has_commit(cx, git.reading(), commit);
    if is_here()? {
        return Ok(());
    }
    git.fetch(cx)?;
    if !is_here()? {
        let fetch = git.exchanging(cx)?.args(["fetch", "--quiet", "--no-recurse-submodules", "origin", commit]);
        git.run(cx, "fetch the recorded commit", fetch)?;
    }
    Ok(())
}

fn with_proxy(cx: &Context, options: &PullOptions) -> Context {
    crate::home::with_proxy(cx, options.proxy.as_deref())
}

/// The directory of the checkout that an update is about.
///
/// # Errors
/// [`SourceError::NoCheckout`].
pub fn source_of(cx: &Context, named: Option<&Path>) -> Result<PathBuf, Error> {
    checkout_of(cx, named).ok_or(SourceError::NoCheckout.into())
}
