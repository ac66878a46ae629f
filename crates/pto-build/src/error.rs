//! What can go wrong with a home, a checkout and its build, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why something was not set up, built or updated. Each that stops the user names the repository or directory, the state
/// it is in, and in [`hint`](Error::hint) the command to type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing says where the checkout is.
    #[error(
        "no PyPTO checkout: `PYPTO_SRC` is not set, and neither `/workspace/pypto` nor the working directory is one"
    )]
    NoSource,
    /// A question about a checkout has no answer.
    #[error(transparent)]
    Checkout(#[from] pto_checkout::Error),
    /// A child could not do its work.
    #[error("cannot {action}")]
    Command {
        /// What it was to do: "build the native extension".
        action: &'static str,
        /// What became of it.
        #[source]
        source: pto_process::Error,
    },
    /// Another operation of the system failed; the source names the path.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The disk, or the user's quota, is full.
    #[error("no space left: cannot write under `{}`", .path.display())]
    NoSpace {
        /// The directory that was written to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An interrupt was asked for.
    #[error("interrupted")]
    Interrupted,
}

/// Whose an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What was given: an option, a file of the checkout, the state of a repository.
    Input,
    /// The sources do not compile.
    Sources,
    /// The machine lacks something.
    Machine,
    /// The user asked for the end.
    Interrupt,
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoSource => "name it: `--pypto-src DIR`, or `export PYPTO_SRC=/path/to/pypto`".to_owned(),
            Self::Checkout(error) => return error.hint(),
            Self::Command { source, .. } => return source.hint(),
            Self::NoSpace { .. } => "free some space and run again".to_owned(),
            Self::Io { .. } | Self::Interrupted => return None,
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            _ if self.is_interrupted() => Fault::Interrupt,
            Self::NoSource => Fault::Input,
            Self::Checkout(pto_checkout::Error::Remote { .. } | pto_checkout::Error::Io { .. }) => Fault::Machine,
            Self::Checkout(_) => Fault::Input,
            Self::Command { .. } | Self::Io { .. } | Self::NoSpace { .. } | Self::Interrupted => Fault::Machine,
        }
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Checkout(error) => error.is_interrupted(),
            Self::Command { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }

    /// An error of the system while doing something, which `action` says.
    pub fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// The same while writing under a directory: tells a full disk from the rest.
    pub fn write(action: &'static str, under: &Path) -> impl Fn(io::Error) -> Self {
        move |source| match pto_context::is_disk_full(&source) {
            true => Self::NoSpace { path: under.to_owned(), source },
            false => Self::Io { action, source },
        }
    }

    /// A child that could not do what `action` says.
    pub fn command(action: &'static str) -> impl Fn(pto_process::Error) -> Self {
        move |source| Self::Command { action, source }
    }
}
