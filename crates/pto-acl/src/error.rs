//! What can go wrong between a caller and the library.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::codes::known_code;

/// A call that the library answered with an error code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AclError {
    /// The function.
    pub call: &'static str,
    /// The code it returned, never 0.
    pub code: i32,
    /// The name of the code, when it is a known one.
    pub name: Option<&'static str>,
    /// What the library said about it (`aclGetRecentErrMsg`), when it said something.
    pub message: Option<String>,
}

impl AclError {
    /// An error of `call`, with the code's name looked up.
    pub fn new(call: &'static str, code: i32, message: Option<String>) -> Self {
        Self { call, code, name: known_code(code).map(|known| known.name), message }
    }
}

impl fmt::Display for AclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` failed with {} ({})", self.call, self.code, self.name.unwrap_or("unknown code"))?;
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AclError {}

/// One path that was tried, and what the loader said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The path, or the bare name that the loader looked up itself.
    pub path: PathBuf,
    /// The loader's words.
    pub reason: String,
}

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// None of the candidates could be loaded.
    #[error("`libascendcl.so` could not be loaded{}", list(attempts))]
    NotLoaded {
        /// Every path tried, in order.
        attempts: Vec<Attempt>,
    },
    /// The library was loaded but has no function that cannot be done without.
    #[error("`{}` has no symbol `{symbol}`", library.display())]
    MissingSymbol {
        /// The library.
        library: PathBuf,
        /// The function.
        symbol: &'static str,
        /// What the loader said.
        #[source]
        source: libloading::Error,
    },
    /// The library is too old for a function that was asked for.
    #[error("`{}` has no `{function}`, which is needed here", library.display())]
    Unsupported {
        /// The library.
        library: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// The library answered with an error code.
    #[error(transparent)]
    Call(#[from] AclError),
    /// A handle could not be released when it was dropped; the call that reports it did nothing else.
    #[error("an earlier release failed")]
    Release(#[source] AclError),
    /// Host and device side of a copy differ in size.
    #[error("the host side has {host} bytes, the device buffer {device}")]
    Length {
        /// Bytes of the host slice.
        host: usize,
        /// Bytes of the device buffer.
        device: usize,
    },
    /// A wait ended without what it waited for.
    #[error("{what} was not done after {} ms", limit.as_millis())]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// Handles of two devices, or of two libraries, were used together.
    #[error("the {what} belongs to another device")]
    ForeignHandle {
        /// The handle that does not fit.
        what: &'static str,
    },
}

fn list(attempts: &[Attempt]) -> String {
    if attempts.is_empty() {
        return ": there was no path to try".into();
    }
    attempts.iter().fold(String::from("; tried:"), |mut text, attempt| {
        text.push_str(&format!("\n  `{}`: {}", attempt.path.display(), attempt.reason));
        text
    })
}

/// `ACL_ERROR_RT_STREAM_SYNC_TIMEOUT` and `ACL_ERROR_RT_EVENT_SYNC_TIMEOUT`.
const SYNC_TIMEOUTS: [i32; 2] = [507_046, 507_047];

impl Error {
    /// Whether the time for a wait was over: what was waited for may still run.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Timeout { .. } => true,
            Self::Call(error) => SYNC_TIMEOUTS.contains(&error.code),
            _ => false,
        }
    }

    /// The library's answer, when this is one.
    pub fn acl(&self) -> Option<&AclError> {
        match self {
            Self::Call(error) | Self::Release(error) => Some(error),
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotLoaded { .. } => {
                Some("source CANN's `set_env.sh`, or set `ASCEND_HOME_PATH` to where CANN is installed")
            }
            Self::MissingSymbol { .. } => Some("the library is not `libascendcl`, or is too old for this tool"),
            Self::Unsupported { .. } => Some("a newer CANN has the function"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_code_name_and_message() {
        let error = AclError::new("aclrtMalloc", 207_001, Some("no memory".into()));
        assert_eq!(error.to_string(), "`aclrtMalloc` failed with 207001 (ACL_ERROR_RT_MEMORY_ALLOCATION): no memory");
        assert_eq!(AclError::new("aclInit", 4711, None).to_string(), "`aclInit` failed with 4711 (unknown code)");
    }

    #[test]
    fn every_path_tried_is_listed() {
        let attempts = ["/a", "/b"].map(|path| Attempt { path: path.into(), reason: "no such file".into() });
        let text = Error::NotLoaded { attempts: attempts.into() }.to_string();
        assert_eq!(text, "`libascendcl.so` could not be loaded; tried:\n  `/a`: no such file\n  `/b`: no such file");
    }
}
