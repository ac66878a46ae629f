//! What can go wrong with a home, a checkout and its build, and what to do about it.
//!
//! [`Error`] is what every function of this crate ends with. What is wrong has a type by where it is: in the sources, in
//! PyPTO's home, in what is built, between repositories and their remotes.

mod build;
mod home;
mod sources;
mod update;

use std::io;
use std::path::{Path, PathBuf};

use pto_context::Fault;

pub use build::BuildError;
pub use home::{Attempt, HomeError};
pub use sources::SourceError;
pub use update::UpdateError;

/// Why something was not set up, built or updated. Each that stops the user names the repository or directory, the state
/// it is in, and in [`hint`](Error::hint) the command to type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The checkout's files are not as they have to be.
    #[error(transparent)]
    Sources(#[from] SourceError),
    /// PyPTO's home lacks something, or cannot get it.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Something was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Repositories were not updated.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// A question about a checkout has no answer.
    #[error(transparent)]
    Checkout(#[from] pto_checkout::Error),
    /// A child could not do its work.
    #[error("cannot {action} in `{}`", .place.display())]
    Command {
        /// What it was to do: "apply a managed patch".
        action: &'static str,
        /// The repository, or another directory or program that it is about.
        place: PathBuf,
        /// What became of it.
        #[source]
        source: pto_process::Error,
    },
    /// A file or directory cannot be read or written, a disk is full, or the user asked for the end.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// A deadline that is no number.
    #[error(transparent)]
    Seconds(#[from] pto_context::BadSeconds),
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Sources(error) => Some(error.hint()),
            Self::Home(error) => error.hint(),
            Self::Build(error) => error.hint(),
            Self::Update(error) => Some(error.hint()),
            Self::Checkout(error) => error.hint(),
            Self::Command { source, .. } => source.hint(),
            // It is the checkout's disk, or one for files on their way; none of them is moved by a variable.
            Self::Store(pto_store::Error::NoSpace { .. }) => Some("free some space and run again".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Seconds(_) => None,
        }
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            _ if self.is_interrupted() => Fault::Interrupt,
            Self::Sources(_) | Self::Seconds(_) => Fault::Input,
            Self::Home(error) => error.fault(),
            Self::Build(error) => error.fault(),
            Self::Update(error) => error.fault(),
            Self::Checkout(error) => of_git(error),
            Self::Command { .. } | Self::Store(_) => Fault::Machine,
        }
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Home(HomeError::Uv(error)) => error.is_interrupted(),
            Self::Home(HomeError::NotWritten(error)) | Self::Store(error) => error.is_interrupted(),
            Self::Build(BuildError::NotBuilt { source, .. }) | Self::Command { source, .. } => source.is_interrupted(),
            Self::Update(UpdateError::Remote { source, .. }) | Self::Checkout(source) => source.is_interrupted(),
            _ => false,
        }
    }

    /// What a program said before it failed, the last lines of both its streams, secrets masked: what a compiler finds
    /// wrong stands there, and why a remote was not reached.
    pub fn said(&self, lines: usize) -> Option<String> {
        let source = match self {
            Self::Update(UpdateError::Remote { source, .. }) | Self::Checkout(source) => {
                return Some(source.last_words()).filter(|words| !words.is_empty());
            }
            Self::Build(BuildError::NotBuilt { source, .. })
            | Self::Sources(SourceError::PatchRejected { source, .. })
            | Self::Command { source, .. } => source,
            _ => return None,
        };
        let pto_process::Error::Failed(output) = source else { return None };
        let tail = |text: String| {
            let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            all[all.len().saturating_sub(lines)..].join("\n")
        };
        let both = [output.stdout.masked(), output.stderr.masked()].map(|text| tail(text.to_string()));
        let both: Vec<String> = both.into_iter().filter(|text| !text.is_empty()).collect();
        Some(both.join("\n")).filter(|words| !words.is_empty())
    }

    /// The end that the user asked for.
    pub(crate) fn interrupted() -> Self {
        Self::Store(pto_store::Error::Interrupted)
    }

    /// An error of the system while doing something, which `action` says.
    pub(crate) fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| pto_store::Error::io(action, source).into()
    }

    /// The same while writing under a directory: tells a full disk from the rest.
    pub(crate) fn write(action: &'static str, under: &Path) -> impl Fn(io::Error) -> Self {
        move |source| pto_store::Error::write(action, under, source).into()
    }

    /// A child that could not do what `action` says.
    pub(crate) fn command(action: &'static str, place: &Path) -> impl Fn(pto_process::Error) -> Self {
        move |source| Self::Command { action, place: place.to_owned(), source }
    }
}

/// Whose it is that a checkout cannot tell something.
fn of_git(error: &pto_checkout::Error) -> Fault {
    use pto_checkout::Error::{Git, Io, Remote};
    match error {
        Git { .. } | Remote { .. } | Io { .. } => Fault::Machine,
        _ => Fault::Input,
    }
}

/// A path as a shell takes it.
pub(crate) fn word(path: &Path) -> String {
    pto_process::shell_word(&path.to_string_lossy())
}
