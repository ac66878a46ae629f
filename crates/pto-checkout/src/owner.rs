//! Who owns a tree.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;

/// The numbers of a user and a group. They need no names on this machine: in a container a checkout of the host has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Owner {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Owner {
    /// Who owns a file or directory.
    ///
    /// # Errors
    /// It is not there, or cannot be looked at.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let metadata = fs_err::metadata(path).map_err(Error::io("cannot see who owns the checkout"))?;
        Ok(Self { uid: metadata.uid(), gid: metadata.gid() })
    }

    /// Who this process acts as.
    pub fn of_this_process() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// Whether this is the user who may become anybody.
    pub fn is_root(self) -> bool {
        self.uid == 0
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}
