//! What can go wrong with one URL, and whether it may pass.

use std::time::Duration;

/// A URL that did not deliver, secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What was asked for.
    pub url: String,
    /// Where redirects led, if it is another place.
    pub final_url: Option<String>,
    /// How often it was tried.
    pub tries: u32,
    /// The last thing that went wrong.
    pub problem: HttpProblem,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.url)?;
        if let Some(led) = &self.final_url {
            write!(f, ", which led to `{led}`")?;
        }
        write!(f, ": {}", self.problem)?;
        if self.tries > 1 { write!(f, " (tried {} times)", self.tries) } else { Ok(()) }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpProblem {
    /// Not 200 and not 206.
    #[error("the server answered {status}")]
    Status {
        /// Its answer.
        status: u16,
        /// When it asks to be tried again.
        retry_after: Option<Duration>,
    },
    /// The connection ended before the file did.
    #[error("the connection was cut after {got} of {expected} bytes")]
    Cut {
        /// Bytes that are there, earlier tries included.
        got: u64,
        /// The file's size.
        expected: u64,
    },
    /// Nothing came for too long.
    #[error("nothing came for {0:?}")]
    Stalled(Duration),
    /// No connection, or one that broke.
    #[error("{0}")]
    Connection(String),
    /// A URL that cannot be asked for, too many redirects, a certificate that is not trusted, a proxy that refuses.
    #[error("{0}")]
    Lasting(String),
    /// It delivered another file than the pinned one.
    #[error("it delivered another file, with sha256 {found}")]
    OtherFile {
        /// The sha256 of what came.
        found: String,
    },
}

impl HttpProblem {
    /// Whether trying the same again may help.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            Self::Cut { .. } | Self::Stalled(_) | Self::Connection(_) => true,
            Self::Lasting(_) | Self::OtherFile { .. } => false,
        }
    }

    /// What the client says, sorted.
    pub(super) fn of(error: &ureq::Error, patience: Duration) -> Self {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        let text = pto_process::masked(&error.to_string());
        match error {
            ureq::Error::Timeout(_) => Self::Stalled(patience),
            ureq::Error::Io(source) if matches!(source.kind(), TimedOut | WouldBlock) => Self::Stalled(patience),
            ureq::Error::HostNotFound => Self::Connection("the host is not known".to_owned()),
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => Self::Connection(text),
            _ => Self::Lasting(text),
        }
    }
}
