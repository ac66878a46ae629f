//! What can be wrong with what a caller gave us.

use std::path::PathBuf;

/// Why an examination or a comparison was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DoctorError {
    /// No check has this id.
    #[error("no check has the id `{id}`")]
    UnknownCheck {
        /// What was given.
        id: String,
        /// The id that is most like it, if one is.
        nearest: Option<&'static str>,
    },
    /// A file that was given cannot be read; the source names it.
    #[error("cannot read what was given")]
    Read(#[source] std::io::Error),
    /// A file cannot be written; the source names it.
    #[error("cannot write the file")]
    Write(#[source] std::io::Error),
    /// The file is not a snapshot.
    #[error("`{}` is not a snapshot", .path.display())]
    NotASnapshot {
        /// The file, as it was given.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is a snapshot of a form that this version does not know.
    #[error("`{}` has the schema `{found}`, expected `{expected}`", .path.display())]
    OtherSchema {
        /// The file, as it was given.
        path: PathBuf,
        /// The schema it names.
        found: String,
        /// The schema this version writes.
        expected: &'static str,
    },
    /// An interrupt was asked for.
    #[error("interrupted")]
    Interrupted,
}

impl DoctorError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownCheck { nearest: Some(id), .. } => Some(format!("did you mean `--only {id}`?")),
            Self::UnknownCheck { nearest: None, .. } => Some("`cargo xtask doctor --list` shows every id".to_owned()),
            Self::NotASnapshot { .. } => Some("`cargo xtask doctor --save FILE` writes one".to_owned()),
            Self::OtherSchema { .. } => Some("save it again with this version".to_owned()),
            Self::Read(_) | Self::Write(_) | Self::Interrupted => None,
        }
    }
}
