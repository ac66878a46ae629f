//! What somebody began in a work tree and has not ended.

use std::path::Path;

use serde::Serialize;

/// An operation of git's that waits to be continued or given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git am`.
    Am,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
}

impl Operation {
    /// What is going on, by the files that git keeps meanwhile.
    pub(crate) fn of(git_dir: &Path) -> Option<Self> {
        const MARKS: [(&str, Operation); 7] = [
            ("rebase-merge", Operation::Rebase),
            // In the directory of a rebase of an older kind.
            ("rebase-apply/applying", Operation::Am),
            ("rebase-apply", Operation::Rebase),
            ("MERGE_HEAD", Operation::Merge),
            ("CHERRY_PICK_HEAD", Operation::CherryPick),
            ("REVERT_HEAD", Operation::Revert),
            ("BISECT_LOG", Operation::Bisect),
        ];
        MARKS.iter().find(|(mark, _)| git_dir.join(mark).exists()).map(|(_, operation)| *operation)
    }

    /// As git's command, and as it reads in a sentence: `cherry-pick`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Am => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// What goes on with it once its conflicts are resolved: `git merge --continue`. A bisection waits for no such thing.
    pub fn go_on(self) -> Option<String> {
        (self != Self::Bisect).then(|| format!("git {} --continue", self.name()))
    }

    /// What ends it without its result: `git merge --abort`.
    pub fn give_up(self) -> String {
        let how = if self == Self::Bisect { "reset" } else { "--abort" };
        format!("git {} {how}", self.name())
    }
}
