//! Locks that all processes on this machine share.

use std::path::Path;

use pto_store::Lock;

use crate::error::Error;
use crate::registry::Digest;

/// Locks something by its name, such as a tag or a mark; `None` if another process has it.
pub(crate) fn try_lock(dir: &Path, what: &str) -> Result<Option<Lock>, Error> {
    fs_err::create_dir_all(dir).map_err(Error::io("make the directory of locks"))?;
    let file = dir.join(format!("{}.lock", &Digest::of(what.as_bytes()).hex()[..24]));
    Lock::try_acquire(&file).map_err(Error::Lock)
}
