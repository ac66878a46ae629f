//! Claims of names and cards: one process of this machine at a time, whoever its user is, may create or start a container of a
//! name, or one on a card.

use std::time::{Duration, Instant};

use pto_context::{Context, Event, interrupt};
use pto_docker::Docker;
use pto_quarantine::{Claim, Quarantine};

use crate::checks::in_use;
use crate::error::Error;

/// How often to look again while waiting.
const POLL: Duration = Duration::from_millis(100);
/// How long a wait may last before the user is told what it is for.
const QUIET: Duration = Duration::from_secs(2);

/// How much of a container's name and of an engine's id is part of a claim's name, which is that of a file with up to 255 letters.
const LONGEST_NAME: usize = 160;
const LONGEST_ENGINE: usize = 80;

/// A wait for another process. It has no limit: that process may fill a volume with gigabytes, and its claim ends with it.
pub(crate) struct Waiting<'a> {
    cx: &'a Context,
    what: String,
    since: Instant,
    told: bool,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(cx: &'a Context, what: String) -> Self {
        Self { cx, what, since: Instant::now(), told: false }
    }

    /// Waits a moment.
    pub(crate) fn moment(&mut self) -> Result<(), Error> {
        if !self.told && self.since.elapsed() > QUIET {
            self.told = true;
            let message = format!("Waiting for another process that {}", self.what);
            self.cx.emit(Event::Started { task: "wait:container".to_owned(), message, total_bytes: None });
        }
        pause()
    }
}

/// A moment between two looks; ends at an interrupt.
pub(crate) fn pause() -> Result<(), Error> {
    if interrupt::requested() {
        return Err(Error::Interrupted);
    }
    std::thread::sleep(POLL);
    Ok(())
}

/// The claim of a container's name in an engine: another engine may have one of the same name.
pub(crate) struct NameClaim<'a> {
    claim: String,
    quarantine: Quarantine,
    waiting: Waiting<'a>,
}

impl<'a> NameClaim<'a> {
    pub(crate) fn new(cx: &'a Context, engine: Option<&str>, name: &str) -> Self {
        let waiting = Waiting::new(cx, format!("makes or starts container `{name}`"));
        let engine: String = engine.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect();
        let claim = format!("container.{name:.0$}.{engine:.1$}", LONGEST_NAME, LONGEST_ENGINE);
        Self { claim, quarantine: Quarantine::of(cx), waiting }
    }

    /// `None` while another process has the name, after a moment's wait.
    pub(crate) fn try_claim(&mut self) -> Result<Option<Claim>, Error> {
        let claim = self.quarantine.try_claim(&self.claim)?;
        if claim.is_none() {
            self.waiting.moment()?;
        }
        Ok(claim)
    }
}

/// Claims the cards of a container that is about to be started. The claims have to be held until it runs: only then does the
/// engine show others who has the cards. Of several processes that want the same card at once, one gets it, and the others are
/// told who has it.
///
/// # Errors
/// A running container has one of the cards.
pub(crate) fn claim_cards(docker: &Docker, name: &str, cards: &[u32]) -> Result<Vec<Claim>, Error> {
    let quarantine = Quarantine::of(docker.cx());
    let mut sorted = cards.to_vec();
    // All in one order, so that no two processes wait for each other.
    sorted.sort_unstable();
    // The cards of another machine only have the same numbers as ours.
    sorted.retain(|_| docker.is_local());
    let mut waiting = Waiting::new(docker.cx(), format!("starts a container with card {}", numbers(&sorted)));
    loop {
        let held = try_all(&quarantine, &sorted)?;
        // After the claims: a process that had them until now has a running container, or has given up.
        if let Some(finding) = in_use(docker, name, cards, |_, _| {})? {
            return Err(Error::Unfit { findings: vec![finding] });
        }
        match held {
            Some(held) => return Ok(held),
            None => waiting.moment()?,
        }
    }
}

/// The claims of all cards, or none of them.
fn try_all(quarantine: &Quarantine, cards: &[u32]) -> Result<Option<Vec<Claim>>, Error> {
    let mut held = Vec::new();
    for card in cards {
        match quarantine.try_claim(&format!("card.{card}"))? {
            Some(claim) => held.push(claim),
            None => return Ok(None),
        }
    }
    Ok(Some(held))
}

fn numbers(cards: &[u32]) -> String {
    cards.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_claimed_in_one_engine() {
        let dir = tempfile::tempdir().unwrap();
        let cx = Context::fake("/", [("PTOKIT_QUARANTINE", dir.path())]);
        let claim = |engine: &str, name: &str| NameClaim::new(&cx, Some(engine), name).try_claim().unwrap();
        let (id, longest) = ("ABCD:EFGH:".repeat(8), "n".repeat(240));
        let held = claim(&id, &longest).unwrap();
        assert!(claim(&id, &longest).is_none());
        assert!(claim("0b8c-4f", &longest).is_some() && claim(&id, "other").is_some());
        drop(held);
        assert!(claim(&id, &longest).is_some());
    }
}
