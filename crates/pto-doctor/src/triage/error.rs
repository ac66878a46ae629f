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
        /// The name that is most like it, if one is.
        nearest: Option<&'static str>,
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
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotACode { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            Self::NotACode { nearest: None, .. } => Some(
                "codes look like `507018`, `-8020`, `EL0005`, `ERR99999`, `0x2a`, `172` (an exit status) or \
                 `ACL_ERROR_RT_AICPU_EXCEPTION`; logs are given with `--log FILE` or on standard input"
                    .to_owned(),
            ),
            Self::Read { .. } => None,
        }
    }
}
