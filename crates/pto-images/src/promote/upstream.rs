//! Whether a recipe is still the newest.

use pto_checkout::remote;
use pto_context::Context;
use pto_process::masked;

use super::record::Recipe;
use crate::error::Error;

/// Who is asked: never one that only a record names, as whoever wrote that could say which recipe is the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// The repository with the recipe, as git takes it.
    pub repository: String,
    /// Its branch that counts.
    pub branch: String,
    /// A proxy for git; the registry is never asked through one.
    pub proxy: Option<String>,
}

impl Upstream {
    /// The recipe that a commit of it is.
    pub fn recipe(&self, commit: &str) -> Recipe {
        Recipe { repository: self.repository.clone(), branch: self.branch.clone(), commit: commit.to_owned() }
    }

    /// Why a recipe is none of this upstream: what was found, and what was expected.
    pub(super) fn differs(&self, recipe: &Recipe) -> Option<String> {
        let facts = [("repository", &recipe.repository, &self.repository), ("branch", &recipe.branch, &self.branch)];
        let other = facts.into_iter().find(|(_, found, expected)| found != expected);
        other.map(|(what, found, expected)| {
            format!("the {what} of its recipe is `{}`, expected `{}`", masked(found), masked(expected))
        })
    }

    /// That a commit is where the branch is. Not knowing is an error too: nothing is published on a guess.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::UpstreamUnknown`].
    pub fn check(&self, cx: &Context, commit: &str) -> Result<(), Error> {
        let newest = self.newest(cx)?;
        if newest == commit {
            return Ok(());
        }
        let (commit, branch) = (commit.to_owned(), self.branch.clone());
        Err(Error::Stale { commit, branch, repository: masked(&self.repository), newest })
    }

    fn newest(&self, cx: &Context) -> Result<String, Error> {
        let cx = match &self.proxy {
            // Not an argument, which everybody on the machine could read.
            Some(proxy) => cx.clone().with_var("https_proxy", proxy).with_var("http_proxy", proxy),
            None => cx.clone(),
        };
        let reference = format!("refs/heads/{}", self.branch);
        remote::resolve(&cx, &self.repository, &reference).map_err(|source| Error::UpstreamUnknown {
            branch: self.branch.clone(),
            repository: masked(&self.repository),
            source: Box::new(source),
        })
    }
}
