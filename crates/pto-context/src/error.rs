//! What is said of an error, whatever crate it comes from.

use std::error::Error;
use std::io;

/// How the system says that there is no room: ENOSPC, EDQUOT and EFBIG, in the C locale.
const DISK_FULL: [&str; 3] = ["No space left on device", "Disk quota exceeded", "File too large"];

/// An error with its causes, each after a colon, without repeating what a message says already.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

/// Whether there is no room: disk full, quota used up, or larger than a file may be (a limit of the file system or of
/// `ulimit -f`).
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Whether a program's messages, in the C locale, say the same: its exit code does not tell.
pub fn says_disk_full(messages: &str) -> bool {
    DISK_FULL.iter().any(|words| messages.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Link>>,
    }

    #[test]
    fn causes_follow_and_are_said_once() {
        let link = |text, source: Option<Link>| Link { text, source: source.map(Box::new) };
        let chain = link("cannot build", Some(link("cannot write `a`", Some(link("`a`", None)))));
        assert_eq!(with_causes(&chain), "cannot build: cannot write `a`");
    }

    #[test]
    fn what_the_system_says_of_a_full_disk_is_known() {
        let errors = [rustix::io::Errno::NOSPC, rustix::io::Errno::DQUOT, rustix::io::Errno::FBIG];
        for error in errors.map(io::Error::from) {
            assert!(is_disk_full(&error) && says_disk_full(&error.to_string()), "{error}");
        }
        assert!(!is_disk_full(&io::ErrorKind::NotFound.into()));
    }
}
