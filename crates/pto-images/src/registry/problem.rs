//! What can go wrong with one request, and whether it may pass.

use std::time::Duration;

use ureq::Timeout;

use super::digest::Digest;
use super::exchange::WHOLE;
use super::said::shown;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{method} `{url}`: {problem}{}", tries_text(*tries))]
pub struct RequestFailed {
    /// `GET`, `PUT`, `DELETE`.
    pub method: &'static str,
    /// What was asked for; no secret is in it.
    pub url: String,
    /// What went wrong at the last try.
    pub problem: Problem,
    /// How often it was tried.
    pub tries: u32,
    /// Whether it went through a proxy.
    pub through_proxy: bool,
}

/// What went wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An unexpected answer.
    #[error("the answer was {status}{}", said_text(.said))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The registry's own words about it.
        said: Option<String>,
        /// How long the registry asks to wait before the next try.
        retry_after: Option<Duration>,
    },
    /// The registry refuses access.
    #[error("the registry does not let us ({status}){}", said_text(.said))]
    Denied {
        /// 401 or 403.
        status: u16,
        /// The registry's own words about it.
        said: Option<String>,
    },
    /// A redirect, for something that the registry has to answer itself.
    #[error("the answer is a redirect to `{}`, which is not followed: expected the registry's own answer", shown(.place))]
    Elsewhere {
        /// Where to.
        place: String,
    },
    /// No bytes came for too long.
    #[error("nothing came for {0:?}")]
    Stalled(Duration),
    /// The answer was not complete when the limit for the whole exchange was over.
    #[error("the answer was not whole after {0:?}")]
    Slow(Duration),
    /// No connection, or one that broke.
    #[error("{}", shown(.0))]
    Connection(String),
    /// Something that trying again does not change, such as a bad address or a certificate that is not trusted.
    #[error("{}", shown(.0))]
    Lasting(String),
    /// An answer that cannot be understood.
    #[error("{}", shown(.0))]
    Malformed(String),
    /// The bytes do not have the digest that was announced.
    #[error("the digest of what came is {found}, announced was {announced}")]
    OtherBytes {
        /// The digest in the request or in the answer's header.
        announced: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
}

impl Problem {
    /// Whether trying again may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            Self::Stalled(_) | Self::Connection(_) | Self::OtherBytes { .. } => true,
            Self::Denied { .. } | Self::Elsewhere { .. } | Self::Slow(_) | Self::Lasting(_) | Self::Malformed(_) => {
                false
            }
        }
    }

    /// Whether the registry has answered, and the answer is about this one thing: it is damaged, or not of a known form.
    pub(crate) fn is_of_content(&self) -> bool {
        matches!(self, Self::Status { status: 404, .. } | Self::OtherBytes { .. } | Self::Malformed(_))
    }

    /// The same with these secrets masked: the other side may have repeated them.
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

    /// An error of the HTTP client as a problem.
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
