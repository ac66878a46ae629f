//! Git in one repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, Output};

use crate::discover::GitDirs;
use crate::error::Error;
use crate::owner::Owner;
use crate::run_as::RunAs;
use crate::trust::{self, Trust};

/// How long git may look at files. A status of a cold checkout on a network disk takes minutes.
const LOCAL: Duration = Duration::from_secs(300);

/// Seconds that one exchange with a remote may take.
pub(crate) const REMOTE_VARIABLE: &str = "PTOKIT_GIT_TIMEOUT_S";
/// A clone over a slow line; a remote that says nothing is given up long before, by the settings of [`Plain::exchanging`].
const REMOTE: Duration = Duration::from_secs(1800);

/// What a hook or an alias of git's leaves in the environment, and what would then lead git to another repository.
const REDIRECTIONS: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Git in one repository, with the rights of its owner.
#[derive(Debug, Clone)]
pub struct Git {
    root: PathBuf,
    plain: Plain,
    trust: Trust,
    /// Where that is written down.
    temp: PathBuf,
    /// The configuration of the user that git runs as.
    users: Vec<String>,
}

/// Git that speaks as programs expect it, in the repository that it is started in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    run_as: RunAs,
    /// Of [`REDIRECTIONS`], those that are set.
    redirections: Vec<&'static str>,
}

impl Plain {
    pub(crate) fn new(cx: &Context, run_as: RunAs) -> Self {
        let is_set = |name: &&str| cx.var_os(name).is_some();
        Self { run_as, redirections: REDIRECTIONS.into_iter().filter(is_set).collect() }
    }

    pub(crate) fn command(&self) -> Invocation {
        let git = self.run_as.command("git").env("LC_ALL", "C");
        self.redirections.iter().fold(git, |git, name| git.env_remove(*name))
    }

    /// Git that asks nobody, and gives a remote up that sends less than 1000 bytes a second for a minute.
    pub(crate) fn exchanging(&self) -> Invocation {
        let git = self.command().env("GIT_TERMINAL_PROMPT", "0");
        git.env("GIT_HTTP_LOW_SPEED_LIMIT", "1000").env("GIT_HTTP_LOW_SPEED_TIME", "60")
    }
}

impl Git {
    /// In the work tree with this top level, as who owns it.
    ///
    /// # Errors
    /// The tree cannot be looked at.
    pub fn at(cx: &Context, root: &Path) -> Result<Self, Error> {
        let run_as = RunAs::owner(cx, Owner::of(root)?);
        let users = trust::of_the_user(cx, run_as.is_other());
        let temp = run_as.temp_dir(cx);
        let git = Self { root: root.to_owned(), plain: Plain::new(cx, run_as), trust: Trust::default(), temp, users };
        git.trusting([root])
    }

    /// Also trusts these top levels of other owners, for its own commands alone: git looks into submodules too.
    ///
    /// # Errors
    /// That cannot be written down for git.
    pub fn trusting<P: AsRef<Path>>(self, roots: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let user = self.run_as().user();
        let foreign = roots.into_iter().map(|root| root.as_ref().to_owned()).filter(|root| is_foreign(root, user));
        let trust = self.trust.clone().and(&self.temp, &self.users, foreign)?;
        Ok(Self { trust, ..self })
    }

    /// The top level.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whose rights it has.
    pub fn run_as(&self) -> &RunAs {
        &self.plain.run_as
    }

    /// A command that only looks, to be given its arguments: it takes no lock, refreshes no index, and starts no monitor
    /// that the repository names.
    pub fn reading(&self) -> Invocation {
        let git = self.plain.command().args(["-c", "core.fsmonitor=false"]).env("GIT_OPTIONAL_LOCKS", "0");
        self.here(git).deadline(LOCAL)
    }

    /// A command that writes, to be given its arguments.
    pub fn writing(&self) -> Invocation {
        self.here(self.plain.command()).deadline(LOCAL)
    }

    /// A command that exchanges data with a remote, to be given its arguments.
    ///
    /// # Errors
    /// `PTOKIT_GIT_TIMEOUT_S` is no time.
    pub fn exchanging(&self, cx: &Context) -> Result<Invocation, Error> {
        Ok(self.here(self.plain.exchanging()).deadline_from(REMOTE_VARIABLE, cx.seconds(REMOTE_VARIABLE, REMOTE)?))
    }

    /// Runs a command of this repository; `action` completes "git cannot ...".
    ///
    /// # Errors
    /// [`Error::Git`].
    pub fn run(&self, cx: &Context, action: &'static str, command: Invocation) -> Result<Output, Error> {
        let failed = |source| Error::Git { action, repository: self.root.clone(), source };
        command.run(cx).and_then(Output::require_success).map_err(failed)
    }

    /// What a command prints that ends with 0; `None` if it ends with one of `no`, which says that it is not so. Any other
    /// end is no answer.
    ///
    /// # Errors
    /// [`Error::Git`].
    pub fn answer(
        &self,
        cx: &Context,
        action: &'static str,
        command: Invocation,
        no: &[i32],
    ) -> Result<Option<String>, Error> {
        use pto_process::{Error as ProcessError, Status};
        match self.run(cx, action, command) {
            Ok(output) => Ok(Some(output.stdout.text().into_owned())),
            Err(Error::Git { source: ProcessError::Failed(output), .. }) if matches!(output.status, Status::Exited(code) if no.contains(&code)) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a commit is here.
    ///
    /// # Errors
    /// [`Error::Git`].
    pub fn has_commit(&self, cx: &Context, command: Invocation, commit: &str) -> Result<bool, Error> {
        let look = command.args(["cat-file", "-e", &format!("{commit}^{{commit}}")]);
        // 128 where there is no object of that name.
        Ok(self.answer(cx, "look for a commit", look, &[1, 128])?.is_some())
    }

    /// What a command that only looks prints.
    ///
    /// # Errors
    /// [`Error::Git`].
    pub fn ask(&self, cx: &Context, action: &'static str, args: &[&str]) -> Result<String, Error> {
        Ok(self.run(cx, action, self.reading().args(args))?.stdout.text().into_owned())
    }

    /// Gets what is new at the remote of the branch, or of `origin`; no branch and no file changes.
    ///
    /// # Errors
    /// The remote cannot be asked.
    pub fn fetch(&self, cx: &Context) -> Result<(), Error> {
        self.run(cx, "fetch", self.exchanging(cx)?.args(["fetch", "--quiet", "--no-recurse-submodules"])).map(drop)
    }

    /// Moves the branch on to a commit that it is an ancestor of, and refuses anything else.
    ///
    /// # Errors
    /// The branch has commits of its own, or files in the way were changed.
    pub fn fast_forward(&self, cx: &Context, to: &str) -> Result<(), Error> {
        self.run(cx, "fast-forward", self.writing().args(["merge", "--ff-only", "--quiet", to])).map(drop)
    }

    fn here(&self, git: Invocation) -> Invocation {
        let git = git.cwd(&self.root);
        match self.trust.configuration() {
            Some(configuration) => git.env(trust::VARIABLE, configuration),
            None => git,
        }
    }
}

/// Whether git would refuse a work tree to this user: it, its `.git`, or what that leads to is somebody else's.
fn is_foreign(root: &Path, user: Owner) -> bool {
    let git_dirs = GitDirs::at(root.to_owned()).map(|dirs| [dirs.git_dir, dirs.common_dir]).into_iter().flatten();
    let mut places = [root.to_owned(), root.join(".git")].into_iter().chain(git_dirs);
    places.any(|place| Owner::of(&place).is_ok_and(|owner| owner.uid != user.uid))
}
