//! `git status --porcelain=v2 --branch -z`: what a work tree holds that its commit does not.

use serde::Serialize;

use crate::Note;

/// The state of a work tree. Paths are below its top level, with bytes that are no UTF-8 replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GitStatus {
    /// The commit; `None` where there is none yet.
    pub head: Option<String>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// What the branch follows.
    pub upstream: Option<UpstreamState>,
    /// In the index, other than in the commit.
    pub staged: Vec<String>,
    /// In the work tree, other than in the index; submodules with changes of their own too.
    pub modified: Vec<String>,
    /// Known to no commit and not ignored.
    pub untracked: Vec<String>,
    /// Not merged.
    pub conflicted: Vec<String>,
    /// Of the modified, the submodules whose commit is the recorded one: all that changed is inside them.
    pub changed_inside: Vec<String>,
    /// What was not understood.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

/// What a branch follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UpstreamState {
    /// `origin/main`.
    pub name: String,
    /// Commits that are here alone, then those that are there alone; `None` if the upstream is gone.
    pub ahead_behind: Option<(u64, u64)>,
}

impl GitStatus {
    /// Whether there is anything that a commit does not hold.
    pub fn is_dirty(&self) -> bool {
        [&self.staged, &self.modified, &self.untracked, &self.conflicted].iter().any(|paths| !paths.is_empty())
    }

    fn header(&mut self, header: &str) {
        let (key, value) = header.split_once(' ').unwrap_or((header, ""));
        match key {
            "branch.oid" => self.head = super::is_full_commit(value).then(|| value.to_owned()),
            "branch.head" => self.branch = (value != "(detached)").then(|| value.to_owned()),
            "branch.upstream" => self.upstream = Some(UpstreamState { name: value.to_owned(), ahead_behind: None }),
            "branch.ab" => {
                if let Some(upstream) = &mut self.upstream {
                    upstream.ahead_behind = ahead_behind(value);
                }
            }
            // Later versions of git may tell more.
            _ => {}
        }
    }

    /// `1 XY sub mH mI mW hH hI path` and `2 XY sub mH mI mW hH hI Xscore path`.
    fn changed(&mut self, rest: &str, fields: usize) -> Option<()> {
        let mut fields = rest.splitn(fields, ' ');
        let mut states = fields.next()?.chars();
        let (index, tree) = (states.next()?, states.next()?);
        let submodule = fields.next()?;
        let path = fields.last()?.to_owned();
        if index != '.' {
            self.staged.push(path.clone());
        }
        if tree != '.' {
            if submodule.starts_with("S.") {
                self.changed_inside.push(path.clone());
            }
            self.modified.push(path);
        }
        Some(())
    }
}

fn ahead_behind(value: &str) -> Option<(u64, u64)> {
    let (ahead, behind) = value.split_once(' ')?;
    Some((ahead.strip_prefix('+')?.parse().ok()?, behind.strip_prefix('-')?.parse().ok()?))
}

/// Reads `git status --porcelain=v2 --branch -z`.
pub fn parse_status(text: &str) -> GitStatus {
    let mut status = GitStatus::default();
    let mut entries = text.split('\0').filter(|entry| !entry.is_empty());
    while let Some(entry) = entries.next() {
        let (kind, rest) = entry.split_once(' ').unwrap_or((entry, ""));
        let understood = match kind {
            "#" => {
                status.header(rest);
                Some(())
            }
            "1" => status.changed(rest, 8),
            "2" => {
                // The name before follows as an entry of its own.
                entries.next();
                status.changed(rest, 9)
            }
            "u" => rest.splitn(10, ' ').nth(9).map(|path| status.conflicted.push(path.to_owned())),
            "?" => {
                status.untracked.push(rest.to_owned());
                Some(())
            }
            "!" => Some(()),
            _ => None,
        };
        if understood.is_none() {
            status.notes.push(Note::new(0, entry, "expected an entry of `git status --porcelain=v2 -z`"));
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OID: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn every_kind_of_entry_is_told_apart() {
        let text = [
            format!("# branch.oid {OID}"),
            "# branch.head main".into(),
            "# branch.upstream origin/main".into(),
            "# branch.ab +2 -13".into(),
            format!("1 M. N... 100644 100644 100644 {OID} {OID} staged file"),
            format!("1 .M N... 100644 100644 100644 {OID} {OID} modified"),
            format!("1 .M SC.. 160000 160000 160000 {OID} {OID} moved"),
            format!("1 .M S.M. 160000 160000 160000 {OID} {OID} inside"),
            format!("2 R. N... 100644 100644 100644 {OID} {OID} R100 new"),
            "old name".into(),
            format!("u UU N... 100644 100644 100644 100644 {OID} {OID} {OID} both sides"),
            "? left over".into(),
            "! ignored".into(),
        ];
        let status = parse_status(&(text.join("\0") + "\0"));
        assert_eq!((status.head.as_deref(), status.branch.as_deref()), (Some(OID), Some("main")));
        assert_eq!(status.upstream, Some(UpstreamState { name: "origin/main".into(), ahead_behind: Some((2, 13)) }));
        assert_eq!(status.staged, ["staged file", "new"]);
        assert_eq!(status.modified, ["modified", "moved", "inside"]);
        assert_eq!(status.changed_inside, ["inside"]);
        assert_eq!(
            (&*status.conflicted, &*status.untracked),
            (&["both sides".to_owned()][..], &["left over".to_owned()][..])
        );
        assert!(status.is_dirty() && status.notes.is_empty(), "{:?}", status.notes);
    }

    #[test]
    fn detached_gone_and_odd() {
        let status = parse_status(&format!("# branch.oid {OID}\0# branch.head (detached)\0"));
        assert_eq!((status.branch, status.upstream), (None, None));
        let status = parse_status("# branch.head x\0# branch.upstream origin/x\0# branch.ab 1\0");
        assert_eq!(status.upstream.unwrap().ahead_behind, None);
        assert_eq!(parse_status("1 M.\0x\0").notes.len(), 2);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[12u?#! .MSUR\\x00a-c]{0,80}") {
            parse_status(&text);
        }
    }
}
