//! How a launch ended.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::phase::Phase;

/// How a launch ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The launcher returned and the stream was synchronized; outputs are there.
    Completed,
    /// The device reported an error: a deadlock, an access out of bounds, a time-out of a core.
    Fault {
        /// The ACL function that reported it.
        call: String,
        /// Its code.
        code: i32,
        /// The code's name.
        name: String,
        /// What the library said about it.
        message: String,
    },
    /// The process died by a signal.
    Crashed {
        /// For example `SIGSEGV`.
        signal: String,
        /// What it was doing.
        phase: Phase,
        /// The last lines it wrote.
        last_words: String,
    },
    /// The process ended without a result: the kernel or its launcher called `exit()`.
    Exited {
        /// The exit code.
        code: i32,
        /// What it was doing.
        phase: Phase,
        /// The last lines it wrote.
        last_words: String,
    },
    /// It did not end in time and was killed with all its children.
    Hung {
        /// What it was doing.
        phase: Phase,
        /// The limit that it passed, in milliseconds.
        limit_ms: u64,
        /// The last lines it wrote.
        last_words: String,
    },
}

/// Something the kernel's runtime counted that did not end the launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is.
    pub text: String,
    /// The source it concerns; empty when there is none.
    pub file: String,
    /// Its line; 0 when there is none.
    pub line: u32,
    /// How often.
    pub count: u64,
}

impl Verdict {
    pub(crate) fn hung(phase: Phase, limit: Duration, last_words: String) -> Self {
        Self::Hung { phase, limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), last_words }
    }

    /// What most likely lies behind it and does not show in the words themselves; for people.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Crashed { signal, .. } if signal == "SIGKILL" => Some(
                "nobody here sent this signal: the machine probably ran out of memory, or a person ended the process",
            ),
            Self::Crashed { signal, .. } if signal == "SIGBUS" => {
                Some("memory was there but could not be had: a full `/dev/shm` or a file that was cut short")
            }
            Self::Crashed { last_words, .. } if tell_of_an_exception(last_words) => {
                Some("a launcher has to catch its own exceptions: its callers know C alone")
            }
            Self::Crashed { phase: Phase::Teardown, .. } => {
                Some("the launch itself was done: look at static destructors and `atexit` handlers of the library")
            }
            Self::Crashed { phase: Phase::Load, .. } => Some("look at static constructors of the library"),
            Self::Exited { .. } => Some("a launcher must return: the process is not its own to end"),
            Self::Hung { phase: Phase::Launch, .. } => {
                Some("a launcher only enqueues work; it must not wait for the kernel")
            }
            Self::Hung { phase: Phase::Teardown, .. } => Some(
                "the launch itself was done: look at static destructors, `atexit` handlers and threads of the library",
            ),
            _ => None,
        }
    }

    /// Why the device it ran on is not to be trusted after it; `None` where the device has nothing to do with it.
    pub fn suspicion(&self) -> Option<String> {
        match self {
            Self::Hung { phase, limit_ms, .. } => {
                Some(format!("hung {phase}, killed after {:.1} s", *limit_ms as f64 / 1000.0))
            }
            Self::Fault { code, name, .. } => pto_acl::suspect_after(*code).map(|why| format!("{why} ({code} {name})")),
            Self::Completed | Self::Crashed { .. } | Self::Exited { .. } => None,
        }
    }
}

/// What the C++ libraries of GCC and LLVM say before they end a process because of an exception.
fn tell_of_an_exception(last_words: &str) -> bool {
    ["terminate called after throwing", "terminating due to uncaught exception"]
        .iter()
        .any(|text| last_words.contains(text))
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |words: &str| if words.is_empty() { String::new() } else { format!(": {words}") };
        match self {
            Self::Completed => f.write_str("completed"),
            Self::Fault { call, code, name, message } if message.is_empty() => {
                write!(f, "`{call}` failed with {code} ({name})")
            }
            Self::Fault { code, name, message, .. } => write!(f, "{message} [{code} {name}]"),
            Self::Crashed { signal, phase, last_words } => {
                let why = match signal.as_str() {
                    "SIGKILL" => ", probably for want of memory",
                    "SIGABRT" if tell_of_an_exception(last_words) => ", by a C++ exception that nobody caught",
                    _ => "",
                };
                write!(f, "crashed by {signal} {phase}{why}{}", words(last_words))
            }
            Self::Exited { code, phase, last_words } => {
                write!(f, "ended the process with exit code {code} {phase}{}", words(last_words))
            }
            Self::Hung { phase, limit_ms, last_words } => {
                write!(f, "hung {phase}: killed after {:.1} s{}", *limit_ms as f64 / 1000.0, words(last_words))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_read_as_sentences() {
        let last_words = "aclsim: stack overflow".to_owned();
        let rows = [
            (Verdict::Completed, "completed"),
            (
                Verdict::Fault { call: "f".into(), code: 507_015, name: "N".into(), message: String::new() },
                "`f` failed with 507015 (N)",
            ),
            (
                Verdict::Fault { call: "f".into(), code: 507_015, name: "N".into(), message: "deadlock".into() },
                "deadlock [507015 N]",
            ),
            (
                Verdict::Crashed { signal: "SIGSEGV".into(), phase: Phase::Launch, last_words },
                "crashed by SIGSEGV in the launcher or its kernel: aclsim: stack overflow",
            ),
            (
                Verdict::Crashed { signal: "SIGKILL".into(), phase: Phase::Synchronize, last_words: String::new() },
                "crashed by SIGKILL while the kernel ran, probably for want of memory",
            ),
            (
                Verdict::Exited { code: 3, phase: Phase::Teardown, last_words: String::new() },
                "ended the process with exit code 3 while releasing the device",
            ),
            (
                Verdict::Hung { phase: Phase::Synchronize, limit_ms: 1500, last_words: String::new() },
                "hung while the kernel ran: killed after 1.5 s",
            ),
        ];
        for (verdict, text) in rows {
            assert_eq!(verdict.to_string(), text);
        }
    }
}
