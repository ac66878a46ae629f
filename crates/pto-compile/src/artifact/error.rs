//! Why a file is not looked into.

use std::io;
use std::path::{Path, PathBuf};

/// A file cannot be read, or is not what a linker made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The file system says no.
    #[error("cannot read the artifact")]
    Read(#[source] io::Error),
    /// A directory or a device.
    #[error("`{}` is not a file", .path.display())]
    NotAFile {
        /// As it was given.
        path: PathBuf,
    },
    /// Something else than ELF.
    #[error("`{}` is not an ELF file: it begins with {found}", .path.display())]
    NotElf {
        /// As it was given.
        path: PathBuf,
        /// The first bytes, for people.
        found: String,
    },
    /// ELF of another kind than that of every host with an NPU.
    #[error("`{}` is not 64-bit little-endian ELF", .path.display())]
    OtherElf {
        /// As it was given.
        path: PathBuf,
    },
    /// More than a library of kernels has.
    #[error("`{}` has {} MiB, expected at most {} MiB", .path.display(), .bytes >> 20, super::LARGEST >> 20)]
    TooLarge {
        /// As it was given.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It begins well, and its tables are not where it says.
    #[error("`{}` is damaged or cut short", .path.display())]
    Damaged {
        /// As it was given.
        path: PathBuf,
        /// What the reader says.
        #[source]
        source: object::Error,
    },
}

impl ArtifactError {
    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotElf { .. } => {
                Some("give a built library: `cargo xtask kernel build NAME` prints where one lies".into())
            }
            Self::Damaged { .. } => Some("build or fetch it again; `sha256sum` tells whether a copy is whole".into()),
            _ => None,
        }
    }
}

/// The same, before it is known which file it is.
#[derive(Debug)]
pub(super) enum Malformed {
    NotElf(String),
    OtherElf,
    Elf(object::Error),
}

impl Malformed {
    /// Whether these are the first bytes of 64-bit little-endian ELF.
    pub(super) fn check(bytes: &[u8]) -> Result<(), Self> {
        match bytes {
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => Ok(()),
            [0x7f, b'E', b'L', b'F', ..] => Err(Self::OtherElf),
            [] => Err(Self::NotElf("nothing, it is empty".to_owned())),
            _ => Err(Self::NotElf(format!("`{}`", bytes[..bytes.len().min(8)].escape_ascii()))),
        }
    }

    pub(super) fn in_file(self, path: &Path) -> ArtifactError {
        let path = path.to_path_buf();
        match self {
            Self::NotElf(found) => ArtifactError::NotElf { path, found },
            Self::OtherElf => ArtifactError::OtherElf { path },
            Self::Elf(source) => ArtifactError::Damaged { path, source },
        }
    }
}
