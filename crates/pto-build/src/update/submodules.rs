//! What an update would do to the submodules of a repository, found out without changing any.

use pto_checkout::Checkout;

use super::gitmodules::{Gitmodules, Listed, Place, REMOTE};
use super::incoming::Incoming;
use super::plan::{How, Move, Planner};
use super::state::State;
use crate::error::{Error, UpdateError};

/// A submodule as its parent's next commit has it.
struct Next<'a> {
    path: &'a str,
    recorded: &'a str,
    /// In `.gitmodules`.
    listed: Option<&'a Listed>,
}

impl Planner<'_> {
    /// What becomes of the submodules when their parent is at a commit.
    pub(super) fn submodules(
        &mut self,
        parent: &Checkout,
        incoming: &Incoming<'_>,
        to: &str,
        moves: &mut Vec<Move>,
    ) -> Result<(), Error> {
        let tree = incoming.ask("list the submodules", &["ls-tree", "-r", "-z", to])?;
        let listed = Gitmodules::read(self.cx, incoming, to)?;
        for (path, recorded) in gitlinks(&tree) {
            let next = Next { path, recorded, listed: listed.at(path) };
            match parent.submodule(path).and_then(|submodule| submodule.checkout.as_ref()) {
                Some(inside) => self.submodule(parent, inside, &next, moves)?,
                None => self.new_submodule(parent, &next, to, moves)?,
            }
        }
        Ok(())
    }

    fn submodule(
        &mut self,
        parent: &Checkout,
        inside: &Checkout,
        next: &Next<'_>,
        moves: &mut Vec<Move>,
    ) -> Result<(), Error> {
        let place = Place::of(self.cx, parent, inside, next.listed)?;
        let incoming = Incoming::of(self.cx, inside)?.from(&place);
        let Some(head) = inside.head.clone() else {
            let switch = self.ways(inside)?.out_of_nothing();
            self.block(inside, State::Unborn { switch });
            return Ok(());
        };
        let to = if self.remote_submodules {
            let branch = followed_branch(parent, next.listed);
            incoming.tip(REMOTE, &branch)?
        } else {
            next.recorded.to_owned()
        };
        if head != to {
            if let Some(branch) = &inside.branch {
                self.block(inside, State::OnBranch { branch: branch.clone() });
                return Ok(());
            }
            if let Some(state) = self.drift(parent, next.path, &incoming, &head)? {
                self.block(inside, state);
                return Ok(());
            }
            if let Err(error) = incoming.obtain(REMOTE, &to) {
                return match place {
                    Place::Chosen { remote, listed }
                        if matches!(error, Error::Update(UpdateError::NoSuchRef { .. })) =>
                    {
                        self.block(inside, State::Elsewhere { commit: to, remote, listed });
                        Ok(())
                    }
                    _ => Err(error),
                };
            }
            self.check_room(inside, &incoming, &head, &to)?;
            let managed = self.managed.as_ref().filter(|managed| managed.root == inside.root());
            if let Some(managed) = managed
                && !incoming.fits(&to, &managed.patch)?
            {
                self.block(inside, State::Unfit { to: to.clone() });
            }
            moves.push(Move {
                root: inside.root().to_path_buf(),
                how: How::Checkout,
                commits: Some(incoming.count(&head, &to)?),
                from: Some(head),
                to: to.clone(),
                moved_to: match place {
                    Place::Moved(url) => Some(url),
                    Place::Remote | Place::Chosen { .. } => None,
                },
            });
        }
        self.submodules(inside, &incoming, &to, moves)
    }

    /// Why a submodule must not leave the commit that it is at. With its remote followed, any commit that a remote has is
    /// fine; else it has to be one that its parent records or has recorded, for then nobody chose it here.
    fn drift(
        &self,
        parent: &Checkout,
        path: &str,
        incoming: &Incoming<'_>,
        head: &str,
    ) -> Result<Option<State>, Error> {
        let recorded = parent.submodule(path).map(|submodule| submodule.recorded.clone()).unwrap_or_default();
        if head == recorded || self.was_recorded(parent, path, head)? {
            return Ok(None);
        }
        let own =
            incoming.ask("compare commits", &["rev-list", "--max-count=1", head, "--not", "--remotes", "--tags"])?;
        Ok(match own.trim().is_empty() {
            false => Some(State::OwnCommits { head: head.to_owned() }),
            true if self.remote_submodules => None,
            true => Some(State::Drifted {
                head: head.to_owned(),
                recorded,
                parent: parent.root().to_owned(),
                path: path.to_owned(),
            }),
        })
    }

    /// Whether the parent has ever recorded this commit for the submodule.
    fn was_recorded(&self, parent: &Checkout, path: &str, commit: &str) -> Result<bool, Error> {
        let args = ["log", "--format=", "--raw", "--no-abbrev", "-m", "HEAD", "--", path];
        let log = parent.git(self.cx)?.ask(self.cx, "list what it has recorded", &args)?;
        Ok(log.split_whitespace().any(|word| word == commit))
    }

    fn new_submodule(
        &mut self,
        parent: &Checkout,
        Next { path, recorded, listed }: &Next<'_>,
        commit: &str,
        moves: &mut Vec<Move>,
    ) -> Result<(), Error> {
        // Git leaves it out as well where nobody says where it is.
        let Some(Listed { name, .. }) = listed else { return Ok(()) };
        if !is_plain(path) {
            self.block(parent, State::BadSubmodule { name: (*path).to_owned(), commit: commit.to_owned() });
            return Ok(());
        }
        let root = parent.root().join(path);
        let is_empty = fs_err::read_dir(&root).map_or(!root.exists(), |mut entries| entries.next().is_none());
        if !is_empty {
            self.block(parent, State::InTheWay { paths: vec![(*path).to_owned()] });
            return Ok(());
        }
        if !is_plain(name) {
            self.block(parent, State::BadSubmodule { name: name.clone(), commit: commit.to_owned() });
            return Ok(());
        }
        let git_dir = parent.dirs.common_dir.join("modules").join(name);
        let had_git_dir = git_dir.symlink_metadata().is_ok();
        let parent = parent.root().to_path_buf();
        let how = How::Clone { parent, path: (*path).to_owned(), git_dir, had_git_dir };
        moves.push(Move { root, how, from: None, to: (*recorded).to_owned(), commits: None, moved_to: None });
        Ok(())
    }
}

/// Whether a name or path that somebody pushed stays where it is joined to, as git demands it of a submodule's: it is
/// relative, each part of it goes down, and none leads into a repository.
fn is_plain(name: &str) -> bool {
    let is_down = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    !name.starts_with('-') && !name.contains('\\') && name.split('/').all(is_down)
}

/// The ref of its remote that a submodule follows: `branch` of `.gitmodules`, else where the remote begins.
fn followed_branch(parent: &Checkout, listed: Option<&Listed>) -> String {
    match listed.and_then(|listed| listed.branch.as_deref()) {
        None => "HEAD".to_owned(),
        // As `git submodule` has it: the branch that the parent has.
        Some(".") => format!("refs/heads/{}", parent.branch.as_deref().unwrap_or("main")),
        Some(branch) => format!("refs/heads/{branch}"),
    }
}

/// Paths and commits of the submodules in `git ls-tree -r -z`.
fn gitlinks(tree: &str) -> impl Iterator<Item = (&str, &str)> {
    tree.split('\0').filter_map(|entry| {
        let (head, path) = entry.split_once('\t')?;
        Some((path, head.strip_prefix("160000 commit ")?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_none() {
        for good in ["runtime", "3rdparty/third", "a..b", ".github", "with space"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["", ".", "..", "../x", "a/../../x", "/etc", "a//b", "a/", "a/.git", ".GIT/hooks", "-x", "a\\..\\b"]
        {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
