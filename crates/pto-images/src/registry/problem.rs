//! What can go wrong with one request, and whether it may pass.

use std::time::Duration;

use ureq::Timeout;

use super::digest::Digest;
use super::exchange::WHOLE;
use super::said::shown;

/// A request that did not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{method} `{url}`: {problem}{}", tries_text(*tries))]
pub struct RequestFailed {
    /// `GET`, `PUT`, `DELETE`.
    pub method: &'static str,
    /// What was asked for; no secret is in it.
    pub url: String,
    /// The last thing that went wrong.
    pub problem: Problem,
    /// How often it was tried.
    pub tries: u32,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An answer that is none of those expected.
    #[error("the answer was {status}{}", said_text(.said))]
    Status {
        /// The answer.
        status: u16,
        /// What the registry said about it, in its own words.
        said: Option<String>,
        /// When it asks to be tried again.
        retry_after: Option<Duration>,
    },
    /// It does not let us.
    #[error("the registry does not let us ({status}){}", said_text(.said))]
    Denied {
        /// 401 or 403.
        status: u16,
        /// What the registry said about it.
        said: Option<String>,
    },
    /// It sends us away with something that it has to answer itself.
    #[error("the answer is a redirect to `{}`, which is not followed: expected the registry's own answer", shown(.place))]
    Elsewhere {
        /// Where to.
        place: String,
    },
    /// Nothing came for too long.
    #[error("nothing came for {0:?}")]
    Stalled(Duration),
    /// What came was not whole when there was no more time.
    #[error("the answer was not whole after {0:?}")]
    Slow(Duration),
    /// No connection, or one that broke.
    #[error("{}", shown(.0))]
    Connection(String),
    /// An address that cannot be asked, a certificate that is not trusted.
    #[error("{}", shown(.0))]
    Lasting(String),
    /// An answer that cannot be understood.
    #[error("{}", shown(.0))]
    Malformed(String),
    /// The bytes are not those that were announced.
    #[error("the digest of what came is {found}, announced was {announced}")]
    OtherBytes {
        /// By the request or by the answer's header.
        announced: Digest,
        /// Of the bytes.
        found: Digest,
    },
}

impl Problem {
    /// Whether trying the same again may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            Self::Stalled(_) | Self::Connection(_) | Self::OtherBytes { .. } => true,
            Self::Denied { .. } | Self::Elsewhere { .. } | Self::Slow(_) | Self::Lasting(_) | Self::Malformed(_) => {
                false
            }
        }
    }

    /// The same without these, should the other side have repeated them.
    pub(super) fn without(mut self, secrets: &[String]) -> Self {
        let text = match &mut self {
            Self::Status { said, .. } | Self::Denied { said, .. } => said.as_mut(),
            Self::Elsewhere { place } => Some(place),
            Self::Connection(text) | Self::Lasting(text) | Self::Malformed(text) => Some(text),
            Self::Stalled(_) | Self::Slow(_) | Self::OtherBytes { .. } => None,
        };
        if let Some(text) = text {
            secrets.iter().filter(|secret| !secret.is_empty()).for_each(|secret| *text = text.replace(secret, "***"));
        }
        self
    }

    /// What the client says, sorted.
    pub(super) fn of(error: &ureq::Error, patience: Duration) -> Self {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        let text = pto_process::masked(&error.to_string());
        match error {
            ureq::Error::Timeout(Timeout::Global) => Self::Slow(patience.saturating_mul(WHOLE)),
            ureq::Error::Timeout(_) => Self::Stalled(patience),
            ureq::Error::Io(source) if matches!(source.kind(), TimedOut | WouldBlock) => Self::Stalled(patience),
            ureq::Error::HostNotFound => Self::Connection("the host is not known".to_owned()),
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => Self::Connection(text),
            _ => Self::Lasting(text),
        }
    }
}

fn tries_text(tries: u32) -> String {
    if tries > 1 { format!(" (tried {tries} times)") } else { String::new() }
}

fn said_text(said: &Option<String>) -> String {
    said.as_ref().map(|said| format!(": {}", shown(said))).unwrap_or_default()
}
