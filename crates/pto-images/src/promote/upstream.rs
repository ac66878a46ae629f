//! Whether a recipe is still the newest.

use std::time::Duration;

use pto_context::Context;
use pto_process::Invocation;

use super::record::Recipe;
use crate::error::Error;

/// How long upstream may take to say where a branch is.
const PATIENCE: Duration = Duration::from_secs(60);

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
            repository: pto_process::masked(&recipe.repository),
            newest,
        })
    }

    fn newest(&self, cx: &Context, recipe: &Recipe) -> Result<String, Error> {
        let unknown = |said: String| Error::UpstreamUnknown {
            branch: recipe.branch.clone(),
            repository: pto_process::masked(&recipe.repository),
            said,
        };
        let reference = format!("refs/heads/{}", recipe.branch);
        let mut git = Invocation::new("git")
            .args(["ls-remote", "--exit-code", "--", &recipe.repository, &reference])
            .env("GIT_TERMINAL_PROMPT", "0")
            .deadline(PATIENCE);
        if let Some(proxy) = &self.proxy {
            // Not an argument, which everybody on the machine could read.
            git = git.env("https_proxy", proxy).env("http_proxy", proxy).secret(proxy);
        }
        let output = git.run(cx).map_err(|error| unknown(error.to_string()))?;
        if !output.success() {
            return Err(unknown(output.last_words(3)));
        }
        let text = output.stdout.text();
        let commit = text.split_whitespace().next().unwrap_or_default();
        let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_commit { Ok(commit.to_owned()) } else { Err(unknown("git named no commit".to_owned())) }
    }
}
