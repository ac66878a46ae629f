//! Claims of names and cards: one process at a time may create or start a container of a name, or one on a card.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_docker::{Docker, private_home};
use pto_store::{Lock, stop_if_interrupted};

use crate::checks::in_use;
use crate::disk::is_local;
use crate::error::Error;

/// How often to look again while waiting.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The claim of a container's name, by a lock that all processes of this user share.
pub(crate) struct NameClaim {
    name: String,
    lock: PathBuf,
    since: Instant,
    /// An engine that takes longer to create and start a container would not answer a question either.
    patience: Duration,
}

impl NameClaim {
    pub(crate) fn new(docker: &Docker, name: &str) -> Result<Self, Error> {
        let lock = private_home(docker.cx())?.join(format!("container.{name}"));
        Ok(Self { name: name.to_owned(), lock, since: Instant::now(), patience: docker.patience() })
    }

    /// `None` while another process has the name.
    pub(crate) fn try_claim(&self) -> Result<Option<Lock>, Error> {
        Ok(Lock::try_acquire(&self.lock)?)
    }

    /// Waits a moment for the process that has the name.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        stop_if_interrupted()?;
        if self.since.elapsed() > self.patience {
            return Err(Error::Busy { name: self.name.clone(), seconds: self.patience.as_secs() });
        }
        std::thread::sleep(POLL);
        Ok(())
    }
}

/// Claims the cards of a container that is about to be started. The claims have to be held until it runs: only then does the
/// engine show others who has the cards. Of several processes that want the same card at once, one gets it, and the others are
/// told who has it.
///
/// # Errors
/// A running container has one of the cards, or another process does not finish starting one.
pub(crate) fn claim_cards(docker: &Docker, name: &str, cards: &[u32]) -> Result<Vec<Lock>, Error> {
    let home = private_home(docker.cx())?;
    let mut sorted = cards.to_vec();
    sorted.sort_unstable();
    // The cards of another machine only have the same numbers as ours.
    sorted.retain(|_| is_local(docker));
    let since = Instant::now();
    loop {
        let held = try_all(&home, &sorted)?;
        // After the locks: a process that had them until now has a running container, or has given up.
        if let Some(finding) = in_use(docker, name, cards, |_, _| {})? {
            return Err(Error::Unfit { findings: vec![finding] });
        }
        if let Some(held) = held {
            return Ok(held);
        }
        stop_if_interrupted()?;
        if since.elapsed() > docker.patience() {
            return Err(Error::CardBusy { cards: sorted, seconds: docker.patience().as_secs() });
        }
        std::thread::sleep(POLL);
    }
}

/// The locks of all cards, or none of them.
fn try_all(home: &Path, cards: &[u32]) -> Result<Option<Vec<Lock>>, Error> {
    let mut held = Vec::new();
    for card in cards {
        match Lock::try_acquire(&home.join(format!("card.{card}")))? {
            Some(lock) => held.push(lock),
            None => return Ok(None),
        }
    }
    Ok(Some(held))
}
