//! Whether a recipe is still the newest.

use pto_checkout::remote;
use pto_context::Context;
use pto_process::masked;

use super::record::Recipe;
use crate::error::Error;

/// Who is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upstream {
    /// A proxy for git; the registry is never asked through one.
    pub proxy: Option<String>,
}

impl Upstream {
    /// That the recipe's commit is where its branch is. Not knowing is an error too: nothing is published on a guess.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::UpstreamUnknown`].
    pub fn check(&self, cx: &Context, recipe: &Recipe) -> Result<(), Error> {
        let newest = self.newest(cx, recipe)?;
        if newest == recipe.commit {
            return Ok(());
        }
        Err(Error::Stale {
            commit: recipe.commit.clone(),
            branch: recipe.branch.clone(),
            repository: masked(&recipe.repository),
            newest,
        })
    }

    fn newest(&self, cx: &Context, recipe: &Recipe) -> Result<String, Error> {
        let cx = match &self.proxy {
            // Not an argument, which everybody on the machine could read.
            Some(proxy) => cx.clone().with_var("https_proxy", proxy).with_var("http_proxy", proxy),
            None => cx.clone(),
        };
        let reference = format!("refs/heads/{}", recipe.branch);
        remote::resolve(&cx, &recipe.repository, &reference).map_err(|source| Error::UpstreamUnknown {
            branch: recipe.branch.clone(),
            repository: masked(&recipe.repository),
            source: Box::new(source),
        })
    }
}
