//! What a worker is doing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a worker is doing, in the order in which it does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Opening the device.
    Open,
    /// Loading the kernel's library.
    Load,
    /// Allocating buffers, and filling them before each repeat.
    Upload,
    /// In the launcher, which returns when the kernel is enqueued: the kernel may run already.
    Launch,
    /// Waiting for the stream.
    Synchronize,
    /// Copying outputs back.
    Download,
    /// Releasing everything.
    Teardown,
}

impl Phase {
    pub(crate) const ALL: [Self; 7] =
        [Self::Open, Self::Load, Self::Upload, Self::Launch, Self::Synchronize, Self::Download, Self::Teardown];

    /// The phase with this name in the code.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| format!("{phase:?}") == name)
    }
}

impl fmt::Display for Phase {
    /// Reads well after what happened: `crashed by SIGSEGV while the kernel ran`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "while opening the device",
            Self::Load => "while loading the kernel",
            Self::Upload => "while filling buffers",
            Self::Launch => "in the launcher or its kernel",
            Self::Synchronize => "while the kernel ran",
            Self::Download => "while copying outputs back",
            Self::Teardown => "while releasing the device",
        })
    }
}
