//! What `.gitmodules` says, and whether a submodule is still there.

use pto_checkout::Checkout;
use pto_context::Context;

use super::incoming::Incoming;
use crate::error::Error;

/// The remote of a submodule. Git gives it this name, whatever the parent's is called.
pub(super) const REMOTE: &str = "origin";

/// The submodules that a commit lists.
pub(super) struct Gitmodules(Vec<Listed>);

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) path: Option<String>,
    pub(super) url: Option<String>,
    pub(super) branch: Option<String>,
}

/// Where the commits of a submodule are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// At its remote.
    Remote,
    /// It was moved there, and the submodule's remote is still as an earlier commit had it.
    Moved(String),
    /// They are said to be there, and the submodule has a remote that nobody but its user has named.
    Chosen {
        /// By the user.
        remote: String,
        /// By the commit.
        listed: String,
    },
}

impl Gitmodules {
    /// Those of a commit; none where it has no such file.
    pub(super) fn read(cx: &Context, incoming: &Incoming<'_>, commit: &str) -> Result<Self, Error> {
        let blob = format!("{commit}:.gitmodules");
        let list = incoming.looking(&["config", "-z", "--blob", &blob, "--get-regexp", r"^submodule\."]);
        // 1: there is nothing in it, 128: there is no such file.
        let listed = incoming.git().answer(cx, "read `.gitmodules`", list, &[1, 128])?;
        Ok(Self(parse(&listed.unwrap_or_default())))
    }

    pub(super) fn at(&self, path: &str) -> Option<&Listed> {
        self.0.iter().find(|listed| listed.path.as_deref() == Some(path))
    }
}

/// Reads `git config -z --get-regexp`.
fn parse(text: &str) -> Vec<Listed> {
    let mut found: Vec<Listed> = Vec::new();
    for entry in text.split('\0') {
        let Some((key, value)) = entry.split_once('\n') else { continue };
        // The name may have dots of its own.
        let Some((name, key)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) else { continue };
        let index = found.iter().position(|listed| listed.name == name).unwrap_or_else(|| {
            found.push(Listed { name: name.to_owned(), ..Listed::default() });
            found.len() - 1
        });
        let value = Some(value.to_owned());
        match key {
            "path" => found[index].path = value,
            "url" => found[index].url = value,
            "branch" => found[index].branch = value,
            _ => {}
        }
    }
    found
}

impl Place {
    /// Where a submodule is that the parent's next commit lists. An address counts as the user's own unless a commit of the
    /// parent has ever had it.
    pub(super) fn of(
        cx: &Context,
        parent: &Checkout,
        inside: &Checkout,
        listed: Option<&Listed>,
    ) -> Result<Self, Error> {
        let Some(url) = listed.and_then(|listed| listed.url.as_deref()) else { return Ok(Self::Remote) };
        let Some(remote) = remote_of(cx, inside, REMOTE)? else { return Ok(Self::Remote) };
        let base = remote_of(cx, parent, REMOTE)?;
        let resolved = |url: &str| resolve(base.as_deref(), url);
        let listed = resolved(url);
        if listed == remote {
            return Ok(Self::Remote);
        }
        let args = ["log", "--format=", "-m", "--patch", "--no-color", "HEAD", "--", ".gitmodules"];
        let log = parent.git(cx)?.ask(cx, "list what it has recorded", &args)?;
        let was_listed = log.lines().filter_map(added_url).any(|url| resolved(url) == remote);
        Ok(if was_listed { Self::Moved(listed) } else { Self::Chosen { remote, listed } })
    }
}

/// The address that a line of a patch adds: `+ url = ...`.
fn added_url(line: &str) -> Option<&str> {
    let value = line.strip_prefix('+')?.trim_start().strip_prefix("url")?.trim_start().strip_prefix('=')?;
    Some(value.trim().trim_matches('"'))
}

/// The address of a remote, as the configuration has it.
fn remote_of(cx: &Context, checkout: &Checkout, remote: &str) -> Result<Option<String>, Error> {
    let git = checkout.git(cx)?;
    let get = git.reading().args(["config", "--get", &format!("remote.{remote}.url")]);
    Ok(git.answer(cx, "read its settings", get, &[1])?.map(|url| url.trim().to_owned()))
}

/// An address that may be given against that of the parent: `../runtime.git`.
fn resolve(base: Option<&str>, url: &str) -> String {
    let Some(base) = base.filter(|_| url.starts_with("./") || url.starts_with("../")) else { return url.to_owned() };
    let (mut base, mut rest, mut joint) = (base.trim_end_matches('/'), url, "/");
    loop {
        if let Some(next) = rest.strip_prefix("./") {
            rest = next;
        } else if let Some(next) = rest.strip_prefix("../") {
            // A host and a path are told apart by a colon in what SSH takes.
            let end = base.rfind(['/', ':']).unwrap_or(0);
            joint = if base[end..].starts_with(':') { ":" } else { "/" };
            (base, rest) = (&base[..end], next);
        } else {
            return format!("{base}{joint}{}", rest.trim_end_matches('/'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_by_names() {
        let text = "submodule.a.b.path\n3rdparty/a\0submodule.runtime.path\nruntime\0submodule.a.b.url\n../a.git\0\
                    submodule.runtime.branch\nmain\0submodule.runtime.shallow\ntrue\0other.x\ny\0";
        let found = Gitmodules(parse(text));
        let a = found.at("3rdparty/a").unwrap();
        assert_eq!((a.name.as_str(), a.url.as_deref(), a.branch.as_deref()), ("a.b", Some("../a.git"), None));
        assert_eq!(found.at("runtime").unwrap().branch.as_deref(), Some("main"));
        assert_eq!((found.at("other"), parse("")), (None, Vec::new()));
    }

    #[test]
    fn addresses_are_resolved_as_git_does() {
        let base = Some("https://host/group/pypto.git/");
        for (url, expected) in [
            ("../runtime.git", "https://host/group/runtime.git"),
            ("../../other/x.git/", "https://host/other/x.git"),
            ("./x", "https://host/group/pypto.git/x"),
            ("ssh://host/x", "ssh://host/x"),
            ("/srv/x", "/srv/x"),
        ] {
            assert_eq!(resolve(base, url), expected, "{url}");
        }
        assert_eq!(resolve(Some("git@host:pypto.git"), "../x.git"), "git@host:x.git");
        assert_eq!(resolve(None, "../x.git"), "../x.git");
    }

    #[test]
    fn only_added_addresses_count() {
        assert_eq!(added_url("+\turl = \"https://host/x\""), Some("https://host/x"));
        assert_eq!(added_url("+url=../x.git"), Some("../x.git"));
        for other in ["-\turl = x", " \turl = x", "+\tpath = url", "+++ b/.gitmodules"] {
            assert_eq!(added_url(other), None, "{other}");
        }
    }
}
