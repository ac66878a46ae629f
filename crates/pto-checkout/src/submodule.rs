//! Submodules, and what is in them.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::git::{Gitlink, parse_gitlinks};
use serde::Serialize;

use crate::checkout::Checkout;
use crate::error::Error;
use crate::git::Git;

/// A submodule of a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Submodule {
    /// Below the top level of its parent.
    pub path: String,
    /// The commit that its parent's index records.
    pub recorded: String,
    /// Its checkout; `None` if it was not initialised.
    pub checkout: Option<Checkout>,
}

impl Submodule {
    /// Whether its work tree is at the recorded commit; `None` if it was not initialised.
    pub fn is_at_recorded(&self) -> Option<bool> {
        self.checkout.as_ref().map(|checkout| checkout.head.as_deref() == Some(&*self.recorded))
    }
}

/// What the index of a repository records, and, for each submodule that was initialised, what its index records.
pub(crate) struct Links {
    pub(crate) links: Vec<(Gitlink, Option<Links>)>,
}

impl Links {
    /// Asks the indexes, one after the other: git looks into no submodule for that, so each needs no trust but its own.
    pub(crate) fn read(cx: &Context, git: &Git) -> Result<Self, Error> {
        if !git.root().join(".gitmodules").exists() {
            return Ok(Self { links: Vec::new() });
        }
        let text = git.ask(cx, "list the submodules", &["ls-files", "--stage", "-z"])?;
        let below = |link: Gitlink| {
            let root = git.root().join(&link.path);
            let inside = is_initialised(&root).then(|| Self::read(cx, &Git::at(cx, &root)?)).transpose()?;
            Ok((link, inside))
        };
        Ok(Self { links: parse_gitlinks(&text).into_iter().map(below).collect::<Result<_, Error>>()? })
    }

    /// The top levels of all that were initialised, nested ones included.
    pub(crate) fn roots(&self, parent: &Path) -> Vec<PathBuf> {
        let below = |(link, inside): &(Gitlink, Option<Self>)| {
            let root = parent.join(&link.path);
            inside.as_ref().map(|inside| [vec![root.clone()], inside.roots(&root)].concat()).unwrap_or_default()
        };
        self.links.iter().flat_map(below).collect()
    }
}

/// Whether `git submodule update` has put a repository there.
pub(crate) fn is_initialised(root: &Path) -> bool {
    root.join(".git").exists()
}
