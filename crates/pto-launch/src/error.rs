//! What keeps a launch from being tried at all.

use std::io;
use std::path::PathBuf;

/// Why there is no verdict: the machine lacks something, or the request does not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The host ACL library is not where cargo puts it.
    #[error("the host ACL library `libascendcl.so` was not found; looked at {}", list(.looked_at))]
    NoHostAcl {
        /// Every path tried.
        looked_at: Vec<PathBuf>,
    },
    /// The worker could not set up the launch. Its own words.
    #[error("{message}")]
    Setup {
        /// What was missing or did not fit.
        message: String,
    },
    /// A file of the launch could not be written or read.
    #[error("cannot exchange files with the worker")]
    Exchange(#[source] io::Error),
    /// The worker could not be started.
    #[error("cannot start the worker")]
    Start(#[source] pto_process::Error),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl LaunchError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoHostAcl { .. } => Some(format!(
                "build it with `cargo build -p pto-aclsim`, or name it in `{}`",
                crate::host_acl::HOST_ACL_VARIABLE
            )),
            Self::Start(error) => error.hint(),
            Self::Exchange(error) if error.kind() == io::ErrorKind::StorageFull => {
                Some("free some space, or set `TMPDIR` to a directory on another disk".to_owned())
            }
            _ => None,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
