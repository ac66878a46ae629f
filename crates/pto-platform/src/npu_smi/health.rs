//! How a card feels.

use std::fmt;

use serde::{Serialize, Serializer};

/// Health as `npu-smi` reports it. Serialized as the tool's own word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// `OK`.
    Ok,
    /// `Warning`: works, and something needs attention.
    Warning,
    /// `Alarm`: may still accept work that then hangs.
    Alarm,
    /// `Critical`.
    Critical,
    /// `Offline`: the chip does not answer.
    Offline,
    /// The tool does not know: `UNKNOWN`, `NA`, or the cell is missing.
    Unknown,
    /// Another word.
    Other(String),
}

impl Health {
    pub(crate) fn of(text: &str) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "ok" => Self::Ok,
            "warning" | "general warning" => Self::Warning,
            "alarm" | "important warning" => Self::Alarm,
            "critical" | "emergency warning" => Self::Critical,
            "offline" => Self::Offline,
            _ if super::cell::is_unknown(text) => Self::Unknown,
            _ => Self::Other(text.trim().to_owned()),
        }
    }

    /// Whether work may be given to the card without asking: only `OK` is good enough.
    pub const fn is_ok(&self) -> bool {
        matches!(self, Self::Ok)
    }

    /// Whether the word is one the tool is known to use, and not some other text.
    pub(super) const fn is_known_word(&self) -> bool {
        !matches!(self, Self::Other(_) | Self::Unknown)
    }

    /// The tool's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "Warning",
            Self::Alarm => "Alarm",
            Self::Critical => "Critical",
            Self::Offline => "Offline",
            Self::Unknown => "unknown",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Health {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
