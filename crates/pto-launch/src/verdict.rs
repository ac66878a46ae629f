//! How a launch ended.

use std::fmt;

use serde::{Deserialize, Serialize};

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

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Opening the device.
    Open,
    /// Loading the kernel's library.
    Load,
    /// Allocating and filling buffers.
    Upload,
    /// In the launcher.
    Launch,
    /// Waiting for the stream.
    Synchronize,
    /// Copying outputs back.
    Download,
    /// Releasing everything.
    Teardown,
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

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "while opening the device",
            Self::Load => "while loading the kernel",
            Self::Upload => "while filling buffers",
            Self::Launch => "in the launcher",
            Self::Synchronize => "while the kernel ran",
            Self::Download => "while copying outputs back",
            Self::Teardown => "while releasing the device",
        })
    }
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
                write!(f, "crashed by {signal} {phase}{}", words(last_words))
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
