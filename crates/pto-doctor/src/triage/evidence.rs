//! Lines of logs as evidence, and which of two came first.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A line that shows something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The log it stands in.
    #[serde(serialize_with = "as_str")]
    pub source: Arc<str>,
    /// Its number from 1; `None` for a code that was given as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The line, shortened if long.
    pub text: String,
    #[serde(skip)]
    pub(super) position: Position,
}

fn as_str<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// `host.log:12`, or the source alone.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// Where a line stands in the course of events: by time between logs, by line within one.
///
/// The time is the latest one seen in its log so far. So it never goes back within a log, and ordering by time, log and
/// line is one order for all. What has no time sorts first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) time: Option<Time>,
    pub(super) source: Arc<str>,
    pub(super) line: u64,
}

/// A time stamp with microseconds, comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time {
    date: u32,
    micros: u64,
}

impl Time {
    /// The first time stamp in a line: `2026-04-15-11:19:38.491.647` as CANN writes it, or with a blank or `T` in the
    /// middle, fractions optional. Only the head of the line is looked at, where every logger puts it.
    pub(super) fn find(text: &str) -> Option<Self> {
        const HEAD: usize = 240;
        let bytes = &text.as_bytes()[..text.len().min(HEAD)];
        (0..bytes.len()).find_map(|at| Self::parse(&bytes[at..]))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        const SHAPE: &[u8] = b"dddd-dd-dd?dd:dd:dd";
        let head = bytes.get(..SHAPE.len())?;
        let fits = head.iter().zip(SHAPE).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            b'?' => matches!(byte, b'-' | b' ' | b'T'),
            other => byte == other,
        });
        if !fits {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            head[range].iter().filter(|byte| byte.is_ascii_digit()).fold(0, |n, byte| n * 10 + u64::from(byte - b'0'))
        };
        let seconds = number(11..13) * 3600 + number(14..16) * 60 + number(17..19);
        let micros = seconds * 1_000_000 + fraction(&bytes[SHAPE.len()..]);
        Some(Self { date: u32::try_from(number(0..10)).ok()?, micros })
    }
}

/// Microseconds after the seconds: `.491.647`, `.491647`, `,491` or nothing.
fn fraction(bytes: &[u8]) -> u64 {
    if !matches!(bytes.first(), Some(b'.' | b',')) {
        return 0;
    }
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let digits = digits.filter(|byte| byte.is_ascii_digit()).map(|byte| u64::from(byte - b'0'));
    digits.chain(std::iter::repeat(0)).take(6).fold(0, |n, digit| n * 10 + digit)
}

/// Text of a log as people may see it: no terminal escapes, no control characters, no passwords, not too long.
pub(super) fn shown(text: &str) -> String {
    const LIMIT: usize = 400;
    let text = anstream::adapter::strip_str(text).to_string();
    let text = pto_process::masked(text.trim_end());
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = chars.by_ref().take(LIMIT).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_of_all_loggers_compare() {
        let plog = Time::find("[ERROR] RUNTIME(7,python3):2026-01-02-03:04:05.600.700 [a.cc:1]7 f: text").unwrap();
        let simulator = Time::find("[2026-01-02 03:04:05] [ERROR] text").unwrap();
        let iso = Time::find("2026-01-02T03:04:05.6008 text").unwrap();
        assert!(simulator < plog && plog < iso, "{simulator:?} {plog:?} {iso:?}");
        assert_eq!(Time::find("2026-01-02 is no time, 12345-01-02-03:04 neither"), None);
    }

    #[test]
    fn what_is_shown_is_harmless() {
        assert_eq!(shown("\u{1b}[31mred\u{1b}[0m\tand http://me:secret@host/x\r\n"), "red and http://***@host/x");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 401);
    }
}
