//! Why a triage could not be made.

/// Why a triage could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TriageError {
    /// A word that is no code of any kind.
    #[error("`{given}` is not an error code")]
    NotACode {
        /// What was given.
        given: String,
    },
    /// A log could not be read to its end. What was read of it counts.
    #[error("cannot read `{name}`")]
    Read {
        /// The name that was given to the log.
        name: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl TriageError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotACode { .. } => Some(
                "codes look like `507018`, `-8020`, `EL0005`, `ERR99999`, `0x2a`, `172` (an exit status) or \
                 `ACL_ERROR_RT_AICPU_EXCEPTION`; logs are given with `--log FILE` or on standard input",
            ),
            Self::Read { .. } => None,
        }
    }
}
