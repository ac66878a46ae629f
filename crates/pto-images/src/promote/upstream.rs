//! Whether a recipe is still the newest.

use pto_checkout::remote;
use pto_context::Context;
use pto_process::masked;

use super::record::Recipe;
use crate::error::Error;
use crate::proxy;

/// The branch whose head is the newest recipe. It comes from the configuration, never from a record: whoever wrote a record
/// could then decide which recipe is the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// The repository with the recipe, as git takes it.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// A proxy for git; the registry is never asked through one.
    pub proxy: Option<String>,
}

impl Upstream {
    /// The recipe at a commit.
    pub fn recipe(&self, commit: &str) -> Recipe {
        Recipe { repository: self.repository.clone(), branch: self.branch.clone(), commit: commit.to_owned() }
    }

    /// How a recipe's repository or branch differs from this one, if it does: what was found and what was expected.
    pub(super) fn differs(&self, recipe: &Recipe) -> Option<String> {
        let facts = [("repository", &recipe.repository, &self.repository), ("branch", &recipe.branch, &self.branch)];
        let other = facts.into_iter().find(|(_, found, expected)| found != expected);
        other.map(|(what, found, expected)| {
            format!("the {what} of its recipe is `{}`, expected `{}`", masked(found), masked(expected))
        })
    }

    /// Checks that a commit is the head of the branch. Not knowing is an error too: nothing is published on a guess.
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
        let cx = proxy::for_git(cx, self.proxy.as_deref());
        let reference = format!("refs/heads/{}", self.branch);
        remote::resolve(&cx, &self.repository, &reference).map_err(|source| Error::UpstreamUnknown {
            branch: self.branch.clone(),
            repository: masked(&self.repository),
            source: Box::new(source),
        })
    }
}
