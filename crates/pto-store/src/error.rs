//! What can go wrong in the store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why an entry could not be had. Whatever it is, the store holds no half entry afterwards.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No variable says where the store should be.
    #[error("no place for the store: none of `PTOKIT_HOME`, `XDG_CACHE_HOME`, `HOME` is set")]
    NoHome,
    /// A kind or key that cannot be a file name.
    #[error("`{name}` cannot name a store entry: expected 1 to 200 of `a-z A-Z 0-9 . _ -`, not starting with `.`")]
    BadName {
        /// What was given.
        name: String,
    },
    /// The disk, or the user's quota, is full.
    #[error("no space left: cannot write under `{}`", .path.display())]
    NoSpace {
        /// The directory that was written to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The entry is missing and the store cannot be written.
    #[error("`{}` is not in the store, and the store cannot be written", .entry.display())]
    ReadOnly {
        /// Where the entry would be.
        entry: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory cannot be written by this user.
    #[error("`{}` cannot be written", .path.display())]
    NotWritable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A mount point cannot be replaced.
    #[error("`{}` is a mount point, which cannot be replaced", .path.display())]
    MountPoint {
        /// The mount point.
        path: PathBuf,
    },
    /// Another operation of the system failed; the source names the path.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// An interrupt was asked for.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoHome => "set `PTOKIT_HOME` to a directory that can be written".to_owned(),
            Self::NoSpace { .. } => {
                "free some space and run again, or set `PTOKIT_HOME` to a directory on another disk".to_owned()
            }
            Self::ReadOnly { .. } => {
                "make the store writable, or set `PTOKIT_HOME` to a directory that is; it can be read-only again once \
                 the entry is there"
                    .to_owned()
            }
            Self::NotWritable { .. } => "run it as the owner of that directory, or choose another place".to_owned(),
            Self::MountPoint { .. } => "mount its parent directory instead, or choose a directory below it".to_owned(),
            Self::BadName { .. } | Self::Io { .. } | Self::Interrupted => return None,
        })
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    /// An error of the system while doing something, which `action` says: "cannot read the downloaded file".
    pub fn io(action: &'static str, source: io::Error) -> Self {
        Self::Io { action, source }
    }

    /// An error of writing in a place that a user chose: tells a full disk and missing permission from the rest.
    pub fn place(action: &'static str, under: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable { path: under.to_owned(), source }
            }
            _ => Self::write(action, under, source),
        }
    }

    /// An error of writing under a directory: tells a full disk from the rest. For builders too.
    pub fn write(action: &'static str, under: &Path, source: io::Error) -> Self {
        if pto_context::is_disk_full(&source) {
            Self::NoSpace { path: under.to_owned(), source }
        } else {
            Self::io(action, source)
        }
    }
}

/// An error once an interrupt was asked for. Builders that work for long ask between their steps.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn stop_if_interrupted() -> Result<(), Error> {
    if pto_context::interrupt::requested() { Err(Error::Interrupted) } else { Ok(()) }
}
