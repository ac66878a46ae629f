//! Ways out of a state that a repository really has: what is offered is looked up, not guessed.

use pto_checkout::{Checkout, Git};
use pto_context::Context;

use crate::error::Error;

const FIRST: &str = "origin/HEAD";
/// What most remotes begin with.
const USUAL: &str = "origin/main";

pub(super) struct Ways<'a> {
    cx: &'a Context,
    git: Git,
    checkout: Checkout,
    /// Branches of remotes that were fetched: `origin/main`.
    remotes: Vec<String>,
}

impl<'a> Ways<'a> {
    pub(super) fn of(cx: &'a Context, checkout: &Checkout) -> Result<Self, Error> {
        let git = checkout.git(cx)?;
        let args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes"];
        let listed = git.ask(cx, "list branches", &args)?;
        let remotes = listed.lines().filter(|name| !name.ends_with("/HEAD")).map(str::to_owned).collect();
        Ok(Self { cx, git, checkout: checkout.clone(), remotes })
    }

    /// The remote and its branch that a branch follows; `None` where it follows one of this repository.
    pub(super) fn remote_of(&self, branch: &str) -> Result<Option<(String, String)>, Error> {
        let setting = |key: &str| {
            let get = self.git.reading().args(["config", "--get", &format!("branch.{branch}.{key}")]);
            self.git.answer(self.cx, "read its settings", get, &[1])
        };
        Ok(match (setting("remote")?, setting("merge")?) {
            (Some(remote), Some(merge)) if remote.trim() != "." => {
                Some((remote.trim().to_owned(), merge.trim().to_owned()))
            }
            _ => None,
        })
    }

    /// What a branch could follow, other than what it follows: its namesake, else where the remote begins.
    pub(super) fn to_follow(&self, branch: &str, not: Option<&str>) -> Option<String> {
        let namesake = format!("origin/{branch}");
        let first = self.first().unwrap_or_default();
        let is_there = |name: &&str| Some(*name) != not && self.remotes.iter().any(|remote| remote == name);
        let any = self.remotes.iter().map(String::as_str);
        [namesake.as_str(), &first, USUAL].into_iter().chain(any).find(is_there).map(str::to_owned)
    }

    /// What leads from no branch to one: the one that the remote begins with, or a new one where another worktree has that.
    pub(super) fn to_a_branch(&self) -> Result<String, Error> {
        let first = self.to_follow("main", None).filter(|_| self.first().is_none()).or_else(|| self.first());
        let first = first.unwrap_or_else(|| USUAL.to_owned());
        let branch = first.split_once('/').map_or(first.as_str(), |(_, branch)| branch);
        let worktrees = self.git.ask(self.cx, "list worktrees", &["worktree", "list", "--porcelain"])?;
        let is_taken = worktrees.lines().any(|line| line == format!("branch refs/heads/{branch}"));
        Ok(match is_taken {
            false => format!("switch {}", quoted(branch)),
            true => format!("switch --create {} --track {}", quoted(&self.new_name(branch)), quoted(&first)),
        })
    }

    /// What leads from a branch without a commit to one that has some.
    pub(super) fn out_of_nothing(&self) -> String {
        let branch = self.checkout.branch.as_deref().unwrap_or("main");
        match self.to_follow(branch, None) {
            None => "fetch origin".to_owned(),
            Some(first) => match first.split_once('/') {
                Some((_, local)) if self.has(local) => format!("switch {}", quoted(local)),
                _ => format!("switch --force-create {} --track {}", quoted(branch), quoted(&first)),
            },
        }
    }

    /// Files that git was told of with `add --intent-to-add`.
    pub(super) fn announced(&self) -> Result<Vec<String>, Error> {
        let args = ["diff", "--name-only", "-z", "--diff-filter=A", "--ignore-submodules=all"];
        let listed = self.git.ask(self.cx, "list changes", &args)?;
        Ok(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// Where the remote begins.
    fn first(&self) -> Option<String> {
        let said = self.git.ask(self.cx, "tell the remote's branch", &["rev-parse", "--abbrev-ref", FIRST]).ok()?;
        let said = said.trim();
        self.remotes.iter().any(|remote| remote == said).then(|| said.to_owned())
    }

    fn has(&self, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        self.git.ask(self.cx, "look for a branch", &["rev-parse", "--verify", "--quiet", &name]).is_ok()
    }

    /// A name that no branch has: the directory's, with a number where that is taken.
    fn new_name(&self, branch: &str) -> String {
        let dir =
            self.checkout.root().file_name().map(|name| name.to_string_lossy().replace([' ', '~', '^', ':'], "-"));
        let dir = dir.unwrap_or_else(|| branch.to_owned());
        let numbered = (2..).map(|number| format!("{dir}-{number}"));
        std::iter::once(dir.clone()).chain(numbered).find(|name| !self.has(name)).unwrap_or(dir)
    }
}

fn quoted(word: &str) -> String {
    pto_process::shell_word(word)
}
