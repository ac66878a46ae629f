//! What stops an update.

use std::path::PathBuf;

use pto_context::Fault;

use super::word;
use crate::update::Blocked;

/// Why repositories were not updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// Repositories that cannot be updated as they are. Nothing was changed in any.
    #[error("nothing was changed{}", list(.0))]
    Blocked(Vec<Blocked>),
    /// A remote could not be asked. Nothing was changed.
    #[error("cannot ask the remote `{remote}` of `{}`", .repository.display())]
    Remote {
        /// The repository.
        repository: PathBuf,
        /// The remote's name.
        remote: String,
        /// What git said.
        #[source]
        source: pto_checkout::Error,
    },
    /// A remote has no branch of that name any more. Nothing was changed.
    #[error("the remote `{remote}` of `{}` has no `{name}`", .repository.display())]
    NoSuchRef {
        /// The repository.
        repository: PathBuf,
        /// The remote's name.
        remote: String,
        /// What was looked for.
        name: String,
    },
    /// Somebody's git is at work in a repository that an earlier update left unfinished.
    #[error("git is at work in `{}` (process {pid})", .repository.display())]
    Busy {
        /// The repository.
        repository: PathBuf,
        /// Whose.
        pid: u32,
    },
    /// The checkout has images of its own, and no updater.
    #[error("`{}` has `docker/`, and no updater in it: neither {}", .src.display(), paths(.looked_for))]
    NoUpdater {
        /// The checkout.
        src: PathBuf,
        /// What was looked for.
        looked_for: Vec<PathBuf>,
    },
    /// Git does not say how many commits there are.
    #[error("git counts commits of `{}` and says `{answer}`, which is no number", .repository.display())]
    BadCount {
        /// The repository.
        repository: PathBuf,
        /// What it said.
        answer: String,
    },
    /// What an update that was ended in the middle has written down cannot be read.
    #[error("cannot read what an earlier update of `{}` was doing, in `{}`", .repository.display(), .file.display())]
    BadJournal {
        /// The repository.
        repository: PathBuf,
        /// The record.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An update took the managed patches off, was ended before they were there again, and files were changed since.
    #[error(
        "an update that was ended in the middle took the managed patches off `{}`, and there are other changes in it now",
        .repository.display()
    )]
    TakenOff {
        /// The runtime.
        repository: PathBuf,
        /// The patches that were taken off.
        patch: PathBuf,
    },
}

impl UpdateError {
    /// What to do about it, for people.
    pub fn hint(&self) -> String {
        match self {
            Self::Blocked(blocked) => {
                let remedies: Vec<String> = blocked.iter().map(Blocked::remedy).collect();
                format!("{}; or build what is there with `--no-pull`", remedies.join("; "))
            }
            Self::Remote { repository, remote, .. } => format!(
                "see whether it answers: git -C {} ls-remote {remote}; give a proxy with `--proxy URL`, or build what is \
                 there with `--no-pull`",
                word(repository)
            ),
            Self::NoSuchRef { repository, remote, .. } => {
                format!("see what it has: git -C {} ls-remote {remote}", word(repository))
            }
            Self::Busy { .. } => "let it end, and run the update again".to_owned(),
            Self::NoUpdater { src, .. } => {
                format!("see what is missing: git -C {} status docker; an old one is not used in its place", word(src))
            }
            Self::BadCount { repository, .. } => {
                format!("see what is wrong with it: git -C {} fsck", word(repository))
            }
            Self::BadJournal { repository, file, .. } => format!(
                "see that `git -C {} status` shows nothing but what you changed, then `rm {}`",
                word(repository),
                word(file)
            ),
            Self::TakenOff { repository, patch } => {
                format!(
                    "`git -C {0} stash`, then update, which applies them; they are in `{1}`",
                    word(repository),
                    word(patch)
                )
            }
        }
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Remote { .. } | Self::Busy { .. } => Fault::Machine,
            Self::Blocked(_)
            | Self::NoSuchRef { .. }
            | Self::NoUpdater { .. }
            | Self::BadCount { .. }
            | Self::BadJournal { .. }
            | Self::TakenOff { .. } => Fault::Input,
        }
    }
}

fn list(blocked: &[Blocked]) -> String {
    blocked.iter().map(|one| format!("\n`{}` {}", one.repository.display(), one.state)).collect()
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(" nor ")
}
