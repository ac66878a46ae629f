//! One record, and its form as a file.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Names the form of the file.
const SCHEMA: &str = "ptokit.quarantine/1";

/// That somebody set a device aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    /// The N of `/dev/davinciN`.
    pub device: u32,
    /// Why, in one line.
    pub why: String,
    /// The process that noticed.
    pub pid: u32,
    /// The user it belonged to.
    pub uid: u32,
    /// When, in seconds since 1970 UTC.
    pub since: u64,
    /// Until when, in seconds since 1970 UTC.
    pub until: u64,
    /// The start of the machine it belongs to; `None` where the kernel does not tell.
    pub boot: Option<String>,
}

impl Record {
    pub(crate) fn new(device: u32, why: &str, term: Duration, now: SystemTime, boot: Option<String>) -> Self {
        let since = seconds(now);
        Self {
            schema: SCHEMA.to_owned(),
            device,
            why: one_line(why),
            pid: std::process::id(),
            uid: rustix::process::geteuid().as_raw(),
            since,
            until: since.saturating_add(term.as_secs()),
            boot,
        }
    }

    /// Reads a record; why not, if it is none of this form.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| format!("not a record: {error}"))?;
        if record.schema != SCHEMA {
            return Err(format!("has the schema `{}`, expected `{SCHEMA}`", one_line(&record.schema)));
        }
        Ok(Self { why: one_line(&record.why), ..record })
    }

    /// Whether it still counts: a device that was started anew with its machine is well again.
    pub(crate) fn counts(&self, now: SystemTime, boot: Option<&str>) -> bool {
        let same_start = match (&self.boot, boot) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        };
        same_start && seconds(now) < self.until
    }

    /// How long it still counts.
    pub fn remaining(&self, now: SystemTime) -> Duration {
        Duration::from_secs(self.until.saturating_sub(seconds(now)))
    }
}

pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Without line ends and other control characters: the text is another user's, and is shown on a terminal.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 500;
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn record(boot: Option<&str>) -> Record {
        Record::new(3, "it\x1b[31m hung\n", Duration::from_secs(60), NOW, boot.map(str::to_owned))
    }

    #[test]
    fn a_record_counts_until_it_expires_or_the_machine_starts_anew() {
        let of_start = record(Some("a"));
        assert!(of_start.counts(NOW + Duration::from_secs(59), Some("a")));
        assert!(!of_start.counts(NOW + Duration::from_secs(60), Some("a")));
        assert!(!of_start.counts(NOW, Some("b")));
        assert!(of_start.counts(NOW, None) && record(None).counts(NOW, Some("a")), "in doubt it counts");
        assert_eq!(of_start.remaining(NOW + Duration::from_secs(20)), Duration::from_secs(40));
    }

    #[test]
    fn it_is_read_as_it_was_written_and_without_control_characters() {
        let record = record(Some("a"));
        assert_eq!(record.why, "it [31m hung ");
        assert_eq!(Record::parse(&serde_json::to_vec(&record).unwrap()).unwrap(), record);
        let other = serde_json::to_string(&record).unwrap().replace("quarantine/1", "quarantine/2");
        assert!(Record::parse(other.as_bytes()).unwrap_err().contains("expected `ptokit.quarantine/1`"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), since: u64, term: u64) {
            let _ = Record::parse(&bytes);
            let now = NOW.checked_add(Duration::from_secs(since)).unwrap_or(NOW);
            let record = Record::new(0, "", Duration::from_secs(term), now, None);
            prop_assert_eq!(record.counts(now, None), record.until > record.since);
        }
    }
}
