//! A name that one process of the machine has at a time, whoever its user is: for what a device's lock is too narrow.

use std::fs::File;

use rustix::io::FdFlags;

use crate::error::Error;
use crate::lock::{Flock, try_flock};
use crate::quarantine::Quarantine;

/// A name that nobody else has, until this value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct Claim {
    name: String,
    file: File,
}

impl Claim {
    /// Keeps the name for as long as this process and whatever it becomes live: a program that takes our place goes on having
    /// it.
    ///
    /// # Errors
    /// The system does not let the file be handed on; the name is given back.
    pub fn keep_for_life(self) -> Result<(), Error> {
        let handed_on = rustix::io::fcntl_setfd(&self.file, FdFlags::empty());
        handed_on.map_err(|errno| Error::Claim { name: self.name.clone(), source: errno.into() })?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Quarantine {
    /// Takes a name for this process, if nobody has it. Does not wait. The name is that of a file: letters, digits, `.`, `_`, `-`.
    ///
    /// # Errors
    /// The file cannot be made, opened or locked.
    pub fn try_claim(&self, name: &str) -> Result<Option<Claim>, Error> {
        let failed = |source| Error::Claim { name: name.to_owned(), source };
        self.make_ready().map_err(failed)?;
        if !self.is_directory() {
            return Err(Error::NotADirectory { dir: self.dir().to_owned() });
        }
        match try_flock(&self.dir().join(name)).map_err(failed)? {
            Flock::Taken(file) => Ok(Some(Claim { name: name.to_owned(), file })),
            Flock::Held(_) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use pto_context::Context;

    use super::*;

    #[test]
    fn a_name_is_one_processs() {
        let dir = tempfile::tempdir().unwrap();
        let cx = Context::fake("/", [("PTOKIT_QUARANTINE", dir.path().join("q"))]);
        let quarantine = Quarantine::of(&cx);
        let held = quarantine.try_claim("card.3").unwrap().unwrap();
        assert!(quarantine.try_claim("card.3").unwrap().is_none());
        assert!(quarantine.try_claim("card.4").unwrap().is_some());
        drop(held);
        assert!(quarantine.try_claim("card.3").unwrap().is_some());
        // What it leaves is no record of a device that is set aside.
        let standing = quarantine.standing(std::time::SystemTime::now());
        assert!(standing.records.is_empty() && standing.unread.is_empty());
    }
}
