//! What a checkout cannot tell, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a question about a checkout has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing at all.
    #[error("there is no directory `{}`", .dir.display())]
    NoDirectory {
        /// The directory that was asked about.
        dir: PathBuf,
    },
    /// This user may not look into it, or it cannot be read.
    #[error("cannot look into `{}`", .dir.display())]
    Unseen {
        /// The directory that was asked about.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no work tree of git's.
    #[error("`{}` is in no git checkout: there is no `.git` in it or above it", .dir.display())]
    NotACheckout {
        /// The directory that was asked about.
        dir: PathBuf,
    },
    /// `.git` is there and leads nowhere.
    #[error("`{}` leads to `{}`, which is not there", .file.display(), .target.display())]
    Dangling {
        /// The `.git` file.
        file: PathBuf,
        /// The git directory that it names.
        target: PathBuf,
    },
    /// Git could not do something in a repository.
    #[error("git cannot {action} in `{}`", .repository.display())]
    Git {
        /// What it was to do: "tell the state of the work tree".
        action: &'static str,
        /// Where.
        repository: PathBuf,
        /// What became of git.
        #[source]
        source: pto_process::Error,
    },
    /// Git could not ask a remote.
    #[error("git cannot {action} `{remote}`")]
    Remote {
        /// What it was to do: "list the refs of".
        action: &'static str,
        /// The remote, credentials masked.
        remote: String,
        /// What became of git.
        #[source]
        source: pto_process::Error,
    },
    /// A remote has no ref of that name.
    #[error("`{remote}` has no branch, tag or ref `{name}`")]
    NoSuchRef {
        /// The remote, credentials masked.
        remote: String,
        /// What was looked for.
        name: String,
    },
    /// A limit is no number.
    #[error("`{}` line {line}: `{text}`: {why}", .file.display())]
    BadLimit {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
        /// What was expected.
        why: String,
    },
    /// A limit in the environment is no number.
    #[error("`{variable}` is `{value}`; expected a whole number above 0")]
    BadLimitVariable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// A deadline in the environment is none.
    #[error(transparent)]
    BadSeconds(#[from] pto_context::BadSeconds),
    /// Another operation of the system failed; the source names the path.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoDirectory { .. } | Self::NotACheckout { .. } => {
                "name the checkout: `--pypto-src DIR` or `export PYPTO_SRC=/path/to/pypto`".to_owned()
            }
            Self::Dangling { .. } => {
                "a linked worktree or submodule needs its repository at the same path: mount or restore it, or \
                 `git worktree repair` where the repository has moved"
                    .to_owned()
            }
            Self::Git { source, .. } | Self::Remote { source, .. } => return git_hint(source),
            Self::NoSuchRef { remote, .. } => format!("`git ls-remote {remote}` lists what there is"),
            Self::BadLimit { .. } => "write it as `export PYPTO_BUILD_JOBS=4`".to_owned(),
            Self::BadLimitVariable { variable, .. } => format!("`unset {variable}`, or give it a number"),
            Self::BadSeconds(_) | Self::Unseen { .. } | Self::Io { .. } => return None,
        })
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Git { source, .. } | Self::Remote { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }

    /// What git said of the failure, its last lines, secrets masked; empty if git was not what failed.
    pub fn last_words(&self) -> String {
        match self {
            Self::Git { source: pto_process::Error::Failed(output), .. }
            | Self::Remote { source: pto_process::Error::Failed(output), .. } => output.last_words(12),
            _ => String::new(),
        }
    }

    pub(crate) fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

/// What helps against what git, or the program that changes the user for it, says.
fn git_hint(error: &pto_process::Error) -> Option<String> {
    let pto_process::Error::Failed(output) = error else {
        return match error {
            pto_process::Error::NotFound { program, .. } if program == "setpriv" => {
                Some("install `util-linux`: `setpriv` runs git as the owner of the checkout".to_owned())
            }
            _ => error.hint(),
        };
    };
    let said = output.last_words(20);
    if said.contains("dubious ownership") {
        return Some(format!("a repository inside belongs to somebody else; {}", error.hint()?));
    }
    if ["Authentication failed", "could not read Username", "Permission denied (publickey)"]
        .iter()
        .any(|words| said.contains(words))
    {
        return Some(
            "give git its credentials: an SSH agent, or a credential helper in the `HOME` that git runs with (that of \
             another owner is `$PYPTO_HOME/users/<uid>`)"
                .to_owned(),
        );
    }
    error.hint()
}
