//! Work trees of other owners that git may look into.
//!
//! Git takes `safe.directory` from a command line or a variable since 2.38; the images are built on Ubuntu 22.04, which has
//! 2.34. Every version takes it from its user's configuration, so a command that has to trust a tree is given one of its
//! own, which begins with the user's.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pto_context::Context;
use tempfile::NamedTempFile;

use crate::error::Error;

/// The variable that names a user's configuration.
pub(crate) const VARIABLE: &str = "GIT_CONFIG_GLOBAL";

/// Trees that are trusted for as long as this lives, and nobody's configuration says so afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    roots: Vec<PathBuf>,
    configuration: Option<Arc<NamedTempFile>>,
}

impl Trust {
    /// These trees as well, written down in a directory for files that nobody keeps.
    pub(crate) fn and(
        self,
        temp: &Path,
        users: &[String],
        roots: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, Error> {
        let mut all = self.roots.clone();
        for root in roots {
            if !all.contains(&root) {
                all.push(root);
            }
        }
        if all.len() == self.roots.len() {
            return Ok(self);
        }
        let failed = Error::io("cannot write down which trees git may look into");
        let mut file = NamedTempFile::with_prefix_in("git-trust-", temp).map_err(&failed)?;
        // Whoever git runs as has to read it; it holds no secret.
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(&failed)?;
        file.write_all(text(users, &all).as_bytes()).map_err(&failed)?;
        Ok(Self { roots: all, configuration: Some(Arc::new(file)) })
    }

    /// The configuration that says so, if there is anything to say.
    pub(crate) fn configuration(&self) -> Option<&Path> {
        self.configuration.as_ref().map(|file| file.path())
    }
}

/// Where git looks for its user's configuration, in its order. `~` is the home of whoever git runs as.
pub(crate) fn of_the_user(cx: &Context, is_other: bool) -> Vec<String> {
    if let Some(named) = cx.var(VARIABLE) {
        return vec![named.to_owned()];
    }
    let xdg = cx.var("XDG_CONFIG_HOME").filter(|_| !is_other);
    let xdg = xdg.map_or_else(|| "~/.config/git/config".to_owned(), |dir| format!("{dir}/git/config"));
    vec![xdg, "~/.gitconfig".to_owned()]
}

fn text(users: &[String], roots: &[PathBuf]) -> String {
    let users = users.iter().map(|path| format!("[include]\n\tpath = {}\n", quoted(path)));
    let roots = roots.iter().map(|root| format!("[safe]\n\tdirectory = {}\n", quoted(&root.to_string_lossy())));
    users.chain(roots).collect()
}

/// A value as a file of git's configuration has it, whatever is in it.
pub fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_configuration_comes_first() {
        let users = of_the_user(&Context::fake("/", [("XDG_CONFIG_HOME", "/x")]), false);
        assert_eq!(
            text(&users, &["/a \"b\"\\c".into()]),
            "[include]\n\tpath = \"/x/git/config\"\n[include]\n\tpath = \"~/.gitconfig\"\n\
             [safe]\n\tdirectory = \"/a \\\"b\\\"\\\\c\"\n"
        );
        assert_eq!(of_the_user(&Context::fake("/", [("XDG_CONFIG_HOME", "/x")]), true)[0], "~/.config/git/config");
        assert_eq!(of_the_user(&Context::fake("/", [(VARIABLE, "/own")]), true), ["/own"]);
    }
}
