//! What can go wrong with the state, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why the state could not be changed. Reading it cannot fail: what cannot be read is part of the answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place of the state is no directory: a link or a file that somebody put there.
    #[error("`{}` is not a directory", .dir.display())]
    NotADirectory {
        /// The place.
        dir: PathBuf,
    },
    /// A record could not be written.
    #[error("cannot set device {device} aside")]
    Write {
        /// The device.
        device: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The lock of a device could not be asked for.
    #[error("cannot lock device {device}")]
    Lock {
        /// The device.
        device: u32,
        /// What the system said.
        source: io::Error,
    },
    /// A name could not be asked for, or not be handed on.
    #[error("cannot claim `{name}`")]
    Claim {
        /// The name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A record could not be removed: it is another user's.
    #[error("cannot release device {device}")]
    Release {
        /// The device.
        device: u32,
        /// What the system said; it names the file.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotADirectory { dir } => {
                Some(format!("remove `{}`, or name another place in `PTOKIT_QUARANTINE`", dir.display()))
            }
            Self::Release { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("another user set it aside: only that user and root can release it before it expires".to_owned())
            }
            Self::Write { source, .. } | Self::Lock { source, .. } | Self::Claim { source, .. } if pto_context::is_disk_full(source) => {
                Some("free some space, or name another place in `PTOKIT_QUARANTINE`".to_owned())
            }
            Self::Write { .. } | Self::Lock { .. } | Self::Claim { .. } => Some(
                "have its owner or root remove what is in the way, or name another place in `PTOKIT_QUARANTINE`, the same for all users"
                    .to_owned(),
            ),
            Self::Release { .. } => None,
        }
    }
}
