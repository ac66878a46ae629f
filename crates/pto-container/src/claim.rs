//! Cards as something that one process at a time may start a container on.

use std::path::Path;
use std::time::Instant;

use pto_docker::{Docker, private_home};
use pto_store::{Lock, stop_if_interrupted};

use crate::checks::in_use;
use crate::disk::is_local;
use crate::enter::POLL;
use crate::error::Error;

/// The cards for a container that is about to be started, to be held until it runs: only then does the engine tell others
/// whose they are. Of several processes that want the same card at once one gets it, and the others see who has it.
///
/// # Errors
/// A running container has one of them, or somebody is starting one and does not come to an end.
pub(crate) fn claim(docker: &Docker, name: &str, cards: &[u32]) -> Result<Vec<Lock>, Error> {
    let home = private_home(docker.cx())?;
    let mut sorted = cards.to_vec();
    sorted.sort_unstable();
    // Cards of another machine have the same numbers, and are not ours to keep.
    sorted.retain(|_| is_local(docker));
    let since = Instant::now();
    loop {
        let held = try_all(&home, &sorted)?;
        // After the locks: whoever had them has a running container by now, or has given up.
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
